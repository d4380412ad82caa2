// SPDX-License-Identifier: Apache-2.0

/// The network's paths as an asynchronous sequence: the current one first, then every change.
///
/// Each iteration is a subscription of its own, which ends when its iterator goes away. A slow consumer gets only the
/// newest path and delays nobody. The sequence ends when the monitor stops or the consuming task is cancelled, and
/// throws ``NetworkMonitorError`` when the monitor cannot go on.
public struct NetworkPaths: AsyncSequence, Sendable {
    /// A complete path, not a difference.
    public typealias Element = NetworkPath
    /// The error that ends the sequence when the monitor cannot go on.
    public typealias Failure = NetworkMonitorError

    let broadcaster: NetworkPathBroadcaster

    /// Subscribes; the subscription lasts as long as the iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(subscription: Subscription(to: broadcaster.list, of: broadcaster))
    }

    /// One subscription. For use by one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription<NetworkPath, NetworkPathBroadcaster>

        /// Returns the next path, or nil once the monitor has ended or the task is cancelled.
        ///
        /// - Throws: ``NetworkMonitorError`` when the monitor cannot go on. Having no network is not an error.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(NetworkMonitorError) -> NetworkPath? {
            try await subscription.next().get()
        }
    }
}
