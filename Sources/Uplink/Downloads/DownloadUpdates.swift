// SPDX-License-Identifier: Apache-2.0

/// How a download or a batch goes, as an asynchronous sequence: the present state first, then every change, newest wins.
///
/// The last element is the state at the end. Each iteration stands for itself, begun at any time, also after the end.
public struct DownloadUpdates<Progress: Sendable>: AsyncSequence, Sendable {
    /// A whole state, not a difference.
    public typealias Element = Progress
    /// The sequence does not fail; the outcome is told by ``Download/value`` and ``DownloadBatch/results``.
    public typealias Failure = Never

    let board: UpdateBoard<Progress>

    /// Begins with the present state.
    public func makeAsyncIterator() -> Iterator { Iterator(board: board) }

    /// One reader. For use by one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let board: UpdateBoard<Progress>
        var seen: UInt64?

        /// The newest state as soon as there is one that has not been seen; nil after the end and when the task is
        /// cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Progress? {
            await board.next(after: &seen)
        }
    }
}

/// How a download goes; the last element has the phase `finished` or `failed`.
public typealias DownloadProgressUpdates = DownloadUpdates<DownloadProgress>

/// How a batch goes.
public typealias DownloadBatchProgressUpdates = DownloadUpdates<DownloadBatchProgress>

/// How long the rest takes at a rate; nil where nobody can tell.
func timeLeft(of total: Int64?, received: Int64, bytesPerSecond: Double) -> Duration? {
    guard let total, bytesPerSecond >= 1 else { return nil }
    let seconds = Double(total - received) / bytesPerSecond
    return seconds >= 0 && seconds < 1e9 ? .seconds(seconds) : nil
}
