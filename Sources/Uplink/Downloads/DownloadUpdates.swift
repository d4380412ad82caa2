// SPDX-License-Identifier: Apache-2.0

/// The progress of a download or a batch as an asynchronous sequence: the present state first, then its changes, of
/// which a slow reader gets only the newest.
///
/// The last element is the state at the end. Iterations are independent, and may begin at any time, also after the end.
public struct DownloadUpdates<Progress: Sendable>: AsyncSequence, Sendable {
    /// A whole state, not a difference.
    public typealias Element = Progress
    /// The sequence does not fail; ``Download/value`` and ``DownloadBatch/results`` have the outcome.
    public typealias Failure = Never

    let board: UpdateBoard<Progress>

    /// Returns an iterator that begins with the present state.
    public func makeAsyncIterator() -> Iterator { Iterator(board: board) }

    /// One reader, for use by one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let board: UpdateBoard<Progress>
        var seen: UInt64?

        /// Returns the newest state as soon as there is one that this iterator has not returned; nil after the end, and
        /// when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Progress? {
            await board.next(after: &seen)
        }
    }
}

/// The progress of a download; the last element has the phase `finished` or `failed`.
public typealias DownloadProgressUpdates = DownloadUpdates<DownloadProgress>

/// The progress of a batch.
public typealias DownloadBatchProgressUpdates = DownloadUpdates<DownloadBatchProgress>

/// How long the rest takes at a rate; nil if that is not known.
func timeLeft(of total: Int64?, received: Int64, bytesPerSecond: Double) -> Duration? {
    guard let total, bytesPerSecond >= 1 else { return nil }
    let seconds = Double(total - received) / bytesPerSecond
    return seconds >= 0 && seconds < 1e9 ? .seconds(seconds) : nil
}
