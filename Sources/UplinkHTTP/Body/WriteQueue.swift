// SPDX-License-Identifier: Apache-2.0

/// Chunks on their way to the disk, in order: pure.
///
/// One writer at a time takes everything that has arrived: on a slow network each chunk is written as it arrives, on a
/// fast one many are written together.
struct WriteQueue {
    /// The state of the writer.
    enum State {
        /// There is nothing to write.
        case idle
        /// It is writing, and looks for more afterwards.
        case writing
        /// A write has failed, and all later ones fail too.
        case failed(any Error)
    }

    private(set) var state = State.idle
    private var chunks: [HTTPBody.Chunk] = []
    private var bytes = 0
    /// Bytes written so far.
    private(set) var written: Int64 = 0
    /// The most bytes that may wait, in addition to those being written; beyond that the reader waits.
    static let highMark = 512 * 1024
    /// The most chunks, because the smallest ones take more memory than their bytes.
    static let mostPieces = 1024

    /// Whether more may come.
    var hasRoom: Bool { bytes < Self.highMark && chunks.count < Self.mostPieces }

    /// Whether everything is written.
    var isIdle: Bool { if case .idle = state { true } else { false } }

    /// Whether a write has failed.
    var hasFailed: Bool { if case .failed = state { true } else { false } }

    /// Adds a chunk. Returns true when a writer has to be started.
    mutating func push(_ chunk: HTTPBody.Chunk) throws -> Bool {
        if case .failed(let error) = state { throw error }
        chunks.append(chunk)
        bytes += chunk.count
        guard case .idle = state else { return false }
        state = .writing
        return true
    }

    /// Returns the chunks to write next; nil when nothing is left and the writer is done.
    mutating func take() -> [HTTPBody.Chunk]? {
        guard case .writing = state else { return nil }
        guard !chunks.isEmpty else {
            state = .idle
            return nil
        }
        defer { (chunks, bytes) = ([], 0) }
        return chunks
    }

    /// The writer has written this many bytes of what it took.
    mutating func wrote(_ count: Int) { written += Int64(count) }

    /// Nothing can be written any more; pending chunks are dropped.
    mutating func fail(_ error: any Error) {
        (chunks, bytes) = ([], 0)
        state = .failed(error)
    }
}
