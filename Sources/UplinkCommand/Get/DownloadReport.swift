// SPDX-License-Identifier: Apache-2.0
import Uplink

/// The reports on downloads under way, in lines that stay. Knows neither terminal nor clock.
struct DownloadReport {
    /// When lines are written.
    enum Detail {
        /// As files end.
        case endings
        /// Also when a download is held up, and when it goes on: for output without a progress line.
        case troubles
        /// When files fail.
        case failures
    }

    /// What has been reported about one file.
    private struct File {
        var begun: Duration?
        var last: DownloadProgress?
        /// Whether the download was reported as held up.
        var isHeldUp = false
        /// How much was there then, and how often it had begun anew.
        var heldUpAt: (bytes: Int64, restarts: Int) = (0, 0)
        /// When that was last reported.
        var toldTrouble: Duration?
        var hasEnded = false
    }

    /// The least time between two troubles of a file, so that a network that flaps all night does not fill a log.
    static let pause = Duration.seconds(60)

    private let names: [String]
    private let detail: Detail
    /// The command that goes on with what is left of a batch.
    private let sameCommand: String
    private var files: [File]

    init(names: [String], detail: Detail, sameCommand: String = "the same command with --skip-existing") {
        (self.detail, self.sameCommand) = (detail, sameCommand)
        self.names = names.map { Text.oneLine($0).plain }
        files = names.map { _ in File() }
    }

    /// Takes a state, and returns the lines to print for it.
    ///
    /// - Parameter now: The time since the start.
    mutating func take(_ state: DownloadBatchProgress, at now: Duration) -> [Text] {
        zip(state.items.indices, state.items).flatMap { index, item in take(item, index, now) }
    }

    private mutating func take(_ item: DownloadBatchProgress.Item, _ index: Int, _ now: Duration) -> [Text] {
        guard files.indices.contains(index), !files[index].hasEnded else { return [] }
        switch item {
        case .queued: return []
        case .running(let progress):
            files[index].begun = files[index].begun ?? now
            files[index].last = progress
            return detail == .troubles ? trouble(of: progress, index, now) : []
        case .finished(let bytes):
            files[index].hasEnded = true
            // A single file that came without trouble needs no report.
            let isNews =
                switch detail {
                case .endings: true
                case .troubles: names.count > 1 || files[index].toldTrouble != nil
                case .failures: false
                }
            return isNews ? [ending(bytes, index, now)] : []
        case .failed(let reason):
            files[index].hasEnded = true
            guard names.count > 1 else { return [] }  // the program's error message will say it
            return [Text("✗ \(names[index])").color(.red) + Text("  \(CommandFailure.inOptions(reason))")]
        }
    }

    private mutating func trouble(of progress: DownloadProgress, _ index: Int, _ now: Duration) -> [Text] {
        switch progress.phase {
        case .waitingForNetwork, .pausing:
            let isDue = files[index].toldTrouble.map { now - $0 >= Self.pause } ?? true
            guard !files[index].isHeldUp, isDue else { return [] }
            (files[index].isHeldUp, files[index].heldUpAt) = (true, (progress.receivedBytes, progress.restarts))
            files[index].toldTrouble = now
            return [Text("\(names[index]): \(DownloadLine.news(of: progress))")]
        case .receiving where files[index].isHeldUp:
            files[index].isHeldUp = false
            let then = files[index].heldUpAt
            let bytes = min(progress.receivedBytes, then.bytes)
            let news =
                progress.restarts > then.restarts
                ? "beginning anew" : bytes > 0 ? "going on at \(ByteCount(Int(bytes)))" : "beginning"
            return [Text("\(names[index]): \(news)")]
        case .preparing, .connecting, .resuming, .receiving, .verifying, .finished, .failed: return []
        }
    }

    private func ending(_ bytes: Int64, _ index: Int, _ now: Duration) -> Text {
        let took = files[index].begun.map { " in \((now - $0).taken)" } ?? ""
        let history = Self.history(
            resumptions: files[index].last?.resumptions ?? 0, restarts: files[index].last?.restarts ?? 0)
        return Text("✓ \(names[index])").color(.green) + Text("  \(ByteCount(Int(bytes)))\(took)\(history)")
    }

    /// How often a download resumed and started over: `, resumed twice`; empty when never.
    static func history(resumptions: Int, restarts: Int) -> String {
        (resumptions > 0 ? ", resumed \(times(resumptions))" : "")
            + (restarts > 0 ? ", begun anew \(times(restarts))" : "")
    }

    private static func times(_ count: Int) -> String {
        switch count {
        case 1: "once"
        case 2: "twice"
        default: "\(count) times"
        }
    }
}

// MARK: The end

extension DownloadReport {
    /// What is left when the downloads are interrupted, and how to go on; nil when nothing is.
    var remains: String? {
        let kept = files.reduce(into: Int64(0)) { sum, file in
            if !file.hasEnded { sum += file.last?.receivedBytes ?? 0 }
        }
        let ended = files.count { $0.hasEnded }
        guard kept > 0 || ended > 0 && names.count > 1 else { return nil }
        guard names.count > 1 else {
            return "Interrupted at \(ByteCount(Int(kept))); the same command goes on from there, where the server can"
        }
        return "Interrupted when \(ended) of \(names.count) files had ended; \(sameCommand) "
            + "goes on, from \(ByteCount(Int(kept))) of the others where the server can"
    }
}
