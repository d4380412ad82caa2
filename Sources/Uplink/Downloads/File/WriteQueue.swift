// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

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
    /// Bytes that may wait; then the reader does.
    static let highMark = 1 << 20

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

    mutating func fail(_ error: any Error) {
        (chunks, bytes) = ([], 0)
        state = .failed(error)
    }
}
