// SPDX-License-Identifier: Apache-2.0

/// Changes of the network that connections may not survive, as an asynchronous sequence.
///
/// Quieter than ``NetworkPaths``: changes that break no connection are not reported, and there is no first element,
/// since there is no earlier connection. Each iteration is a subscription of its own, which keeps the monitor working
/// and ends when its iterator goes away. For a slow consumer, changes that it has not taken yet are merged into one
/// (``NetworkChange/union(_:)``), in the end into ``NetworkChange/everything``: nothing is lost, and memory stays
/// bounded. The sequence ends when the monitor stops or the consuming task is cancelled, and throws
/// ``NetworkMonitorError`` when the monitor cannot go on. A new iteration does not include changes that happened in
/// between.
public struct NetworkChanges: AsyncSequence, Sendable {
    /// Everything that changed since the last element.
    public typealias Element = NetworkChange
    /// The error that ends the sequence when the monitor cannot go on.
    public typealias Failure = NetworkMonitorError

    let broadcaster: NetworkChangeBroadcaster

    /// Subscribes; the subscription lasts as long as the iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(subscription: Subscription(to: broadcaster.list, of: broadcaster))
    }

    /// One subscription. For use by one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription<NetworkChange, NetworkChangeBroadcaster>

        /// Returns the next change, or nil once the monitor has ended or the task is cancelled.
        ///
        /// - Throws: ``NetworkMonitorError`` when the monitor cannot go on.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(NetworkMonitorError) -> NetworkChange? {
            try await subscription.next().get()
        }
    }
}
