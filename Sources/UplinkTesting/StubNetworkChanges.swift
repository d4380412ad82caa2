// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

/// A source of network changes that the test sends.
///
/// Every method may be called from any thread.
public final class StubNetworkChanges: Sendable {
    private let broadcaster = NetworkChangeBroadcaster()

    /// Creates a source that has sent no changes yet.
    public init() {}

    /// What the test sends, for code that takes `NetworkChanges`.
    public var changes: NetworkChanges { broadcaster.changes }

    /// Whether anyone is listening now; a change sent while no one is listening is lost.
    public var isObserved: Bool { broadcaster.hasSubscribers }

    /// Sends a change.
    public func send(_ change: NetworkChange) { broadcaster.send(change) }

    /// Sends a change in which these addresses of the host are gone.
    public func remove(_ addresses: IPAddress...) { send(NetworkChange(removedAddresses: Set(addresses))) }

    /// Sends a change in which the default routes of these families are others.
    public func changeDefaultRoutes(of families: IPAddress.Family...) {
        send(NetworkChange(changedDefaultRoutes: Set(families)))
    }

    /// Ends all streams, for ever.
    public func stop() { broadcaster.finish() }

    /// Ends all streams with an error.
    public func fail(_ error: NetworkMonitorError) { broadcaster.fail(error) }
}
