// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

/// A monitor that reports the paths that the test sends.
///
/// Every method may be called from any thread. A path reaches ``currentPath`` immediately, and subscribers as soon as
/// their tasks run.
public final class StubNetworkMonitor: NetworkMonitor {
    private struct State {
        var starts = 0
        var wasObserved = false
    }

    private let state: Locked<State>
    private let broadcaster: NetworkPathBroadcaster

    /// Creates a monitor that knows this path, or none yet.
    public init(_ path: NetworkPath? = nil) {
        let state = Locked(State())
        self.state = state
        let link = Link()
        broadcaster = NetworkPathBroadcaster(keepsPath: true) {
            let broadcaster = link.broadcaster.withLock { $0.value }
            state.withLock { state in
                let isObserved = broadcaster?.hasSubscribers ?? false
                if isObserved, !state.wasObserved { state.starts += 1 }
                state.wasObserved = isObserved
            }
        }
        link.broadcaster.withLock { [broadcaster] in $0.value = broadcaster }
        if let path { send(path) }
    }

    /// A way for the broadcaster's closure to reach the broadcaster, without keeping it alive.
    private final class Link: Sendable {
        struct Weak { weak var value: NetworkPathBroadcaster? }
        let broadcaster = Locked(Weak())
    }

    /// The path that the test sent last; nil before the first, and after ``forget()``, ``fail(_:)`` and ``stop()``.
    ///
    /// It is known even without subscribers, so that tests need not subscribe; a real monitor then mostly has none.
    public var currentPath: NetworkPath? { broadcaster.currentPath }
    /// The current path, then every path that the test sends.
    public var paths: NetworkPaths { broadcaster.paths }

    /// Whether there are subscribers now.
    public var isObserved: Bool { broadcaster.hasSubscribers }

    /// How often there was a first subscriber. A performer that finds what it needs in ``currentPath`` does not
    /// subscribe.
    public var starts: Int { state.withLock { $0.starts } }

    /// Waits until there are subscribers and all of them have taken what the test sent; a performer has then acted on
    /// it.
    ///
    /// Use it after a change of the network that calls have to notice before the test goes on, for example before it
    /// moves the clock: `ManualClock.advance` waits for sleepers, and there may be some already, but not for news of
    /// the network.
    ///
    /// ```swift
    /// monitor.goOffline()
    /// try await monitor.waitForSubscribers()
    /// ```
    ///
    /// A performer subscribes while calls wait, or run and react to a loss (`onLoss:`). A subscriber that does not ask
    /// for the next path holds this up.
    ///
    /// - Parameters:
    ///   - count: How many subscribers the test expects, at least.
    ///   - patience: How long to wait for them, in real time.
    /// - Throws: ``WaitedInVain`` when that does not happen; `CancellationError` when the test is cancelled.
    public nonisolated(nonsending) func waitForSubscribers(
        _ count: Int = 1, patience: Duration = .seconds(10)
    ) async throws {
        try await eventually(
            within: patience, "\(count) or more subscribers of the stub monitor who all have taken what was told"
        ) { broadcaster.subscribersAreWaiting(atLeast: count) }
    }

    /// Makes a path the current one. Its generation is replaced, so that equal paths in a row are distinct.
    public func send(_ path: NetworkPath) { broadcaster.sendAnew(path) }

    /// Makes the network available.
    public func goOnline() { send(.online()) }

    /// Takes the network away.
    public func goOffline(_ reason: UnsatisfiedReason = .noRoute) { send(.offline(reason)) }

    /// Forgets the path, as if it had never been known. The generation rises, for changes that go unseen meanwhile.
    public func forget() { broadcaster.forget() }

    /// Ends all streams, for ever.
    public func stop() { broadcaster.finish() }

    /// Ends all streams with an error. The generation rises, for changes that go unseen meanwhile.
    public func fail(_ error: NetworkMonitorError) { broadcaster.fail(error) }
}

extension NetworkPath {
    /// Returns a path with IPv4, and IPv6 if wanted, over one interface.
    public static func online(
        interface name: String = "eth0", kind: NetworkInterface.Kind = .ethernet, ipv4: Bool = true, ipv6: Bool = false,
        isExpensive: Bool = false
    ) -> NetworkPath {
        let interface = NetworkInterface(name: name, index: 2, kind: kind)
        let way = FamilyPath(interface: name, interfaceIndex: 2)
        return NetworkPath(
            status: ipv4 || ipv6 ? .satisfied : .unsatisfied, unsatisfiedReason: ipv4 || ipv6 ? nil : .noRoute,
            scope: ipv4 || ipv6 ? .global : .site, ipv4: ipv4 ? way : .unavailable(.noRoute),
            ipv6: ipv6 ? way : .unavailable(.noRoute), interfaces: ipv4 || ipv6 ? [interface] : [],
            isExpensive: isExpensive)
    }

    /// Returns a path without a network.
    public static func offline(_ reason: UnsatisfiedReason = .noRoute) -> NetworkPath {
        NetworkPath(
            unsatisfiedReason: reason, scope: .host, ipv4: .unavailable(reason), ipv6: .unavailable(reason))
    }
}
