// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import Uplink
import UplinkCore

/// The files that one command downloads, from the first wait to the last byte.
struct FileDownloads: Sendable {
    let items: [DownloadItem]
    /// The files that are left as they are.
    let existing: [FilePath]
    let limits: DownloadBatchLimits
    let client: HTTPClient.Configuration
    let transport: CurlTransport.Configuration
    let seconds: Double
    /// Whether only errors are reported.
    let isSilent: Bool

    /// Downloads all; the failure of one does not stop the others.
    ///
    /// - Throws: ``CommandFailure`` when a file failed, `CancellationError` after an interruption.
    func run() async throws {
        let teller = Teller(items, isSilent: isSilent)
        if !isSilent {
            for path in existing { teller.line.say(Text("\(path.lastComponent?.string ?? "") exists; skipped")) }
        }
        guard !items.isEmpty else { return }
        let results = try await withHTTPClient(configuration: client, transport: transport) { client in
            let batch = client.startDownloads(items, within: .saturating(seconds: seconds), limits: limits)
            return await withTaskCancellationHandler {
                async let told: Void = teller.follow(batch)
                let results = await batch.results
                await told
                return results
            } onCancel: {
                teller.interrupt(batch.currentProgress)
                batch.cancel()
            }
        }
        teller.line.end()
        for (item, result) in zip(items, results) where !item.headers.contains(.acceptEncoding) {
            if let file = try? result.get(), let note = Self.codingNote(file) { teller.line.say(Text(note)) }
        }
        if Task.isCancelled, results.contains(where: { (try? $0.get()) == nil }) {
            if let remains = teller.remains, items.allSatisfy(\.options.resumes) { teller.line.say(Text(remains)) }
            throw CancellationError()
        }
        try Self.check(results, of: items)
    }

    /// A note about a file that the server encoded without being asked; nil for one whose name says as much.
    static func codingNote(_ file: DownloadedFile) -> String? {
        let ends = ["gzip": [".gz", ".tgz"], "x-gzip": [".gz", ".tgz"], "br": [".br"], "zstd": [".zst"]]
        let name = file.path.lastComponent?.string ?? "\(file.path)"
        let codings = file.contentCodings.filter { coding in !(ends[coding] ?? []).contains(where: name.hasSuffix) }
        guard !codings.isEmpty else { return nil }
        let words = codings.joined(separator: ", ")
        return "\(name) is kept as the server sent it: encoded (\(words)), though not asked for"
    }

    /// Throws the reason why files are missing.
    static func check(
        _ results: [Result<DownloadedFile, any Error>], of items: [DownloadItem]
    ) throws(CommandFailure) {
        let errors = results.compactMap { if case .failure(let error) = $0 { error } else { nil } }
        guard let first = errors.first, let item = items.first else { return }
        guard results.count > 1 else {
            let message = message(of: first)
            let isNamed = message.hasPrefix("http://") || message.hasPrefix("https://") || message.hasPrefix("`")
            throw CommandFailure(isNamed ? message : "\(item.name): \(message)")
        }
        throw CommandFailure(
            "\(errors.count) of \(results.count) files did not come; \(items.sameCommand) tries them again")
    }

    /// An error in this program's terms, and what is kept to go on with.
    private static func message(of error: any Error) -> String {
        guard let error = error as? DownloadError else { return CommandFailure.inOptions("\(error)") }
        let message = CommandFailure.inOptions(error.message)
        guard error.keptBytes > 0 else { return message }
        let command = error.code == .targetExists ? "the same command with --force" : "the same command"
        return "\(message); \(ByteCount(Int(error.keptBytes))) are kept, and \(command) goes on from there"
    }
}

extension DownloadItem {
    /// The file's name in reports.
    fileprivate var name: String { target.lastComponent?.string ?? target.string }
}

extension [DownloadItem] {
    /// The files' names in reports: paths where several are called the same.
    fileprivate var names: [String] {
        let isOften = Dictionary(grouping: self, by: \.name).mapValues { $0.count > 1 }
        return map { isOften[$0.name] == true ? $0.target.string : $0.name }
    }

    /// The command that goes on with a batch of which some files are there already.
    fileprivate var sameCommand: String {
        // --force excludes it.
        allSatisfy(\.options.replacesExisting) ? "the same command" : "the same command with --skip-existing"
    }
}

/// Reports the progress of downloads on standard error: lines that stay, and on a terminal one that changes.
private final class Teller: Sendable {
    private static let pace = Duration.milliseconds(100)
    /// How often it is looked whether a trouble that lasts is due to be reported.
    private static let look = Duration.seconds(5)
    let line: StatusLine
    private let start = ContinuousClock.now
    private let report: Locked<DownloadReport>
    private let remainsAtInterruption = Locked<String?>(nil)

    init(_ items: [DownloadItem], isSilent: Bool) {
        line = StatusLine(on: .error, isWanted: !isSilent)
        let detail: DownloadReport.Detail = isSilent ? .failures : line.isShown ? .endings : .troubles
        report = Locked(DownloadReport(names: items.names, detail: detail, sameCommand: items.sameCommand))
    }

    /// What was left when the downloads were interrupted.
    var remains: String? { remainsAtInterruption.withLock { $0 } }

    /// Records what is there, before all downloads end for the same reason.
    func interrupt(_ state: DownloadBatchProgress) {
        let (lines, remains) = report.withLock { ($0.take(state, at: .now - start), $0.remains) }
        for text in lines { line.say(text) }
        remainsAtInterruption.withLock { $0 = remains }
    }

    /// Reports what happens until all have ended.
    func follow(_ batch: DownloadBatch) async {
        // What changes with time alone.
        let ticking = Task {
            while !Task.isCancelled {
                if line.isShown { draw(batch.currentProgress) } else { tell(of: batch) }
                try await Task.sleep(for: line.isShown ? Self.pace : Self.look)
            }
        }
        for await state in batch.progress {
            tell(of: batch)
            // A state describes all of them, and each of them changes it.
            if state.items.count > 100 { try? await Task.sleep(for: Self.pace) }
        }
        ticking.cancel()
        _ = await ticking.result
        draw(batch.currentProgress)
    }

    /// Takes the newest state: one that somebody has held on to may be older than what was reported.
    private func tell(of batch: DownloadBatch) {
        for text in report.withLock({ $0.take(batch.currentProgress, at: .now - start) }) { line.say(text) }
    }

    private func draw(_ state: DownloadBatchProgress) {
        guard line.isShown, let text = DownloadLine.text(state, columns: line.columns) else { return }
        line.draw(text)
    }
}
