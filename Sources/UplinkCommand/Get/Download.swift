// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink

/// One download of the command `get`.
struct Download: Sendable {
    let url: String
    let target: DownloadTarget
    /// What to wait for; nil to start at once.
    let requirement: NetworkRequirement?
    let monitor: LinuxNetworkMonitor
    let seconds: Double

    /// Waits for the network, then fetches.
    ///
    /// - Throws: ``CommandFailure`` for a status of 400 or more, or what kept the whole answer from arriving.
    func run() async throws {
        guard let requirement else { return try await fetch() }
        let performer = NetworkOperationPerformer(monitor: monitor, clock: LoopClock.shared)
        try await WaitingNote.show(for: requirement) { whenThere in
            try await performer.perform(within: .saturating(seconds: seconds), requiring: requirement) {
                whenThere()
                try await fetch()
            }
        }
    }

    private func fetch() async throws {
        try await withHTTPClient { client in
            let response = try await client.get(url)
            guard response.status.code < 400 else {
                throw CommandFailure("\(response.url): the server answered \(response.status)")
            }
            try await write(response.body)
        }
    }

    private func write(_ body: HTTPBody) async throws {
        let progress = ProgressLine()
        defer { progress.end() }
        switch target {
        case .file(let path, let replacingExisting):
            try await body.write(to: path, replacingExisting: replacingExisting) {
                progress.show($0.written, of: $0.expected)
            }
            DownloadTarget.giveUsualPermissions(to: path)
        case .stream(let output):
            var written: Int64 = 0
            for try await chunk in body {
                do { try chunk.withUnsafeBytes { try output.write($0) } } catch let error as OutputError
                    where error.isClosed
                {
                    throw ExitCode(1)  // whoever read it has seen enough; nobody wants a message
                }
                written += Int64(chunk.count)
                progress.show(written, of: body.contentLength)
            }
        }
    }
}
