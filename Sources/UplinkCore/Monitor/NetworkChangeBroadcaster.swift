// SPDX-License-Identifier: Apache-2.0

/// Gives one source of ``NetworkChange`` to any number of subscribers.
///
/// Every method may be called from any thread.
public final class NetworkChangeBroadcaster: Sendable {
    let list: SubscriberList<NetworkChange>

    /// Makes a broadcaster.
    ///
    /// - Parameter onDemandChange: Called when the first subscriber came, and when the last one left or all streams were
    ///   ended, on whatever thread did it; read ``hasSubscribers`` there, since a call may arrive after the next change.
    ///   Must return at once.
    public init(onDemandChange: @escaping @Sendable () -> Void = {}) {
        list = SubscriberList(merging: { $0.union($1) }, onDemandChange: onDemandChange)
    }

    /// Whether anybody listens.
    public var hasSubscribers: Bool { list.hasSubscribers }

    /// The sequence to hand out; each iteration subscribes anew.
    public var changes: NetworkChanges { NetworkChanges(broadcaster: self) }

    /// Tells all who listen; those who come later are not told.
    public func send(_ change: NetworkChange) { list.send(change, remains: false) }

    /// Ends all streams, for ever: those who subscribe later find an ended stream.
    public func finish() { list.finish() }

    /// Ends all streams with an error. Those who subscribe later start anew.
    public func fail(_ error: NetworkMonitorError) { list.fail(error) }
}
