// SPDX-License-Identifier: Apache-2.0

/// Distributes each ``NetworkChange`` from one source to any number of subscribers.
///
/// Every method may be called from any thread.
public final class NetworkChangeBroadcaster: Sendable {
    let list: SubscriberList<NetworkChange>

    /// Makes a broadcaster.
    ///
    /// - Parameter onDemandChange: Called when the first subscriber arrives, and when the last one leaves or all
    ///   streams are ended, on the thread that caused it. Read ``hasSubscribers`` there, since a call may arrive after
    ///   the next change. Must return immediately.
    public init(onDemandChange: @escaping @Sendable () -> Void = {}) {
        list = SubscriberList(merging: { $0.union($1) }, onDemandChange: onDemandChange)
    }

    /// Whether there are subscribers.
    public var hasSubscribers: Bool { list.hasSubscribers }

    /// The sequence to hand out; each iteration is a new subscription.
    public var changes: NetworkChanges { NetworkChanges(broadcaster: self) }

    /// Sends a change to all current subscribers; later ones do not get it.
    public func send(_ change: NetworkChange) { list.send(change, remains: false) }

    /// Ends all streams permanently: later subscribers find an ended stream.
    public func finish() { list.finish() }

    /// Ends all streams with an error. Later subscribers start again.
    public func fail(_ error: NetworkMonitorError) { list.fail(error) }
}
