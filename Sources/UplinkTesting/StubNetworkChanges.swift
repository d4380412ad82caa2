// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

/// Changes of the network that the test tells.
///
/// Every method may be called from any thread.
public final class StubNetworkChanges: Sendable {
    private let broadcaster = NetworkChangeBroadcaster()

    /// Makes a source of changes that has told nothing yet.
    public init() {}

    /// What the test tells, for those who are given `NetworkChanges`.
    public var changes: NetworkChanges { broadcaster.changes }

    /// Whether anybody listens now; what is told while nobody does is gone.
    public var isObserved: Bool { broadcaster.hasSubscribers }

    /// Tells a change.
    public func send(_ change: NetworkChange) { broadcaster.send(change) }

    /// Addresses of this host are gone.
    public func remove(_ addresses: IPAddress...) { send(NetworkChange(removedAddresses: Set(addresses))) }

    /// The ways of these families to the internet are other ones now.
    public func changeDefaultRoutes(of families: IPAddress.Family...) {
        send(NetworkChange(changedDefaultRoutes: Set(families)))
    }

    /// Ends all streams, for ever.
    public func stop() { broadcaster.finish() }

    /// Ends all streams with an error.
    public func fail(_ error: NetworkMonitorError) { broadcaster.fail(error) }
}
