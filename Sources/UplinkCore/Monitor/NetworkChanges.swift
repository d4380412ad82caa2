// SPDX-License-Identifier: Apache-2.0

/// Changes of the network that connections may not survive, as an asynchronous sequence.
///
/// Quieter than ``NetworkPaths``: nothing comes for what breaks no connection, and nothing at the start, since there is
/// no connection from before. Each iteration is a subscription of its own, which ends when its iterator goes away, and
/// keeps its monitor at work. For a consumer that is slow, what it has not taken yet becomes one change
/// (``NetworkChange/union(_:)``), which in the end is ``NetworkChange/everything``: nothing is lost, and the memory is
/// bounded. The sequence ends when the monitor stops or the consuming task is cancelled, and throws
/// ``NetworkMonitorError`` when the monitor cannot go on; whoever iterates anew has missed what happened in between.
public struct NetworkChanges: AsyncSequence, Sendable {
    /// All that changed since the last element.
    public typealias Element = NetworkChange
    /// What ends the sequence when the monitor cannot go on.
    public typealias Failure = NetworkMonitorError

    let broadcaster: NetworkChangeBroadcaster

    /// Subscribes; the subscription lasts as long as the iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(subscription: Subscription(to: broadcaster.list, of: broadcaster))
    }

    /// One subscription. For use by one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription<NetworkChange, NetworkChangeBroadcaster>

        /// The next change, or nil after the monitor's end and when the task is cancelled.
        ///
        /// - Throws: ``NetworkMonitorError`` when the monitor cannot go on.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(NetworkMonitorError) -> NetworkChange? {
            try await subscription.next().get()
        }
    }
}
