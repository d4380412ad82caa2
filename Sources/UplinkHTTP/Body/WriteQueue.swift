// SPDX-License-Identifier: Apache-2.0

/// Chunks on their way to the disk, in order: pure.
///
/// One writer at a time takes all that has come: while the network is slow each chunk is written as it comes, and while it
/// is fast many are written at once.
struct WriteQueue {
    /// What the writer does.
    enum State {
        /// There is nothing to write.
        case idle
        /// It writes, and looks for more afterwards.
        case writing
        /// A write has failed, and so do all that follow.
        case failed(any Error)
    }

    private(set) var state = State.idle
    private var chunks: [HTTPBody.Chunk] = []
    private var bytes = 0
    /// Bytes that have been written.
    private(set) var written: Int64 = 0
    /// Bytes that may wait, beside those that are being written; then the reader does.
    static let highMark = 512 * 1024

    /// Whether more may come.
    var hasRoom: Bool { bytes < Self.highMark }

    /// Whether everything is written.
    var isIdle: Bool { if case .idle = state { true } else { false } }

    /// Whether a write has failed.
    var hasFailed: Bool { if case .failed = state { true } else { false } }

    /// Takes a chunk. True when a writer has to be started.
    mutating func push(_ chunk: HTTPBody.Chunk) throws -> Bool {
        if case .failed(let error) = state { throw error }
        chunks.append(chunk)
        bytes += chunk.count
        guard case .idle = state else { return false }
        state = .writing
        return true
    }

    /// What the writer writes next; nil when there is nothing left, and the writer's work is done.
    mutating func take() -> [HTTPBody.Chunk]? {
        guard case .writing = state else { return nil }
        guard !chunks.isEmpty else {
            state = .idle
            return nil
        }
        defer { (chunks, bytes) = ([], 0) }
        return chunks
    }

    /// The writer has written so many bytes of what it took.
    mutating func wrote(_ count: Int) { written += Int64(count) }

    /// Nothing can be written any more, and what waits is dropped.
    mutating func fail(_ error: any Error) {
        (chunks, bytes) = ([], 0)
        state = .failed(error)
    }
}
