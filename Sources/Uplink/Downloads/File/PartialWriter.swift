// SPDX-License-Identifier: Apache-2.0
import UplinkEventLoop
import UplinkHTTP

/// A partial file and the queue that writes it, off the loop.
struct PartialWriter: Sendable {
    let file: PartialFile
    private let behind: WriteBehind

    init(_ file: PartialFile, on loop: EventLoop) {
        self.file = file
        behind = WriteBehind(starting: { loop.offLoop($0, completion: $1) }, writing: { try file.append($0) })
    }

    /// Takes a chunk, and waits while too many are queued.
    ///
    /// - Throws: ``DownloadError`` when an earlier one could not be written.
    func write(_ chunk: HTTPBody.Chunk) async throws { try await behind.write(chunk) }

    /// Waits until everything is written. Not cancelled with the task.
    func drain() async throws { try await behind.drain() }
}
