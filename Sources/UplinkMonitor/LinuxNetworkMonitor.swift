// SPDX-License-Identifier: Apache-2.0
public import UplinkCore
public import UplinkEventLoop

/// A monitor that reports the network's path as the Linux kernel knows it, and every change of it, without sending a
/// packet.
///
/// ```swift
/// for try await path in LinuxNetworkMonitor.shared.paths {
///     print(path)  // satisfied: eth0 (ethernet), IPv4 192.0.2.10 via 192.0.2.1
/// }
/// ```
///
/// The monitor asks the kernel which route a packet to the internet would take (rtnetlink(7)), so policy rules, VPNs
/// and multiple uplinks are judged as the kernel itself judges them. It needs no privileges and no daemon. It works
/// while somebody iterates over ``paths``: it starts with the first subscriber, pauses after the last, and costs
/// nothing while the network does not change.
///
/// It watches the network namespace of the loop's thread.
public final class LinuxNetworkMonitor: NetworkMonitor, ClockedMonitor, Sendable {
    /// The process's monitor, on `EventLoop.shared`.
    public static let shared = LinuxNetworkMonitor(on: .shared)

    let watcher: PathWatcher
    package let clock: any Clock<Duration>
    private let broadcaster: NetworkPathBroadcaster
    private let changeBroadcaster: NetworkChangeBroadcaster

    /// Makes a monitor. It opens nothing until somebody subscribes.
    ///
    /// - Parameters:
    ///   - loop: The loop to work on; the network namespace of its thread is watched.
    ///   - configuration: How to look at the network.
    ///   - validator: Finds out whether the internet answers; nil sends nothing. The result appears in
    ///     `FamilyPath.validation` and decides nothing else.
    public init(on loop: EventLoop, configuration: Configuration = .init(), validator: PathValidator? = nil) {
        let watcher = PathWatcher(on: loop, configuration, validator)
        let reconcile: @Sendable () -> Void = { loop.execute { watcher.assumeIsolated { $0.reconcile() } } }
        // The path is kept: it is up to date also while only `changes` is observed. The watcher forgets it in its
        // pauses.
        let broadcaster = NetworkPathBroadcaster(keepsPath: true, onDemandChange: reconcile)
        let changeBroadcaster = NetworkChangeBroadcaster(onDemandChange: reconcile)
        loop.execute { [weak broadcaster, weak changeBroadcaster] in
            watcher.assumeIsolated { $0.attach(broadcaster, changeBroadcaster) }
        }
        self.watcher = watcher
        clock = LoopClock(on: loop)
        self.broadcaster = broadcaster
        self.changeBroadcaster = changeBroadcaster
    }

    /// The current path, or nil while nobody subscribes and until the first answer, which takes milliseconds.
    public var currentPath: NetworkPath? { broadcaster.currentPath }

    /// Five seconds. The kernel answers within milliseconds; on a machine that is busy with other things it may take
    /// this long.
    public var timeToFirstPath: Duration { .seconds(5) }

    /// The current path, then every change. Settings that the system would refuse, such as an `outputInterface` that
    /// can be no name, end the iteration with `NetworkMonitorError`.
    ///
    /// A new path is published when the status, the reason, the scope, a usable family's interface, gateway, source
    /// address or validation, what carries a tunnel, the costs of use or the name servers change, and after a sleep of
    /// the system. Changes of other properties alone publish none.
    ///
    /// Iterating throws `NetworkMonitorError` when the system refuses netlink. Having no network is not an error.
    public var paths: NetworkPaths { broadcaster.paths }

    /// Changes that connections may not survive: lost local addresses, changed default routes, a sleep of the system.
    ///
    /// Published immediately, without the interval and the hold-back of ``paths``. Iterating keeps the monitor working.
    public var changes: NetworkChanges { changeBroadcaster.changes }

    /// Reports that the network does not work although the path says that it should: the kernel is asked again, and
    /// with a validator every family is probed again (that at most once a second).
    public func reportBadNetwork() {
        watcher.eventLoop.execute { [watcher] in watcher.assumeIsolated { $0.reportBadNetwork() } }
    }

    /// Ends all sequences and the monitor itself, for good. May be called repeatedly.
    public func stop() {
        broadcaster.finish()
        changeBroadcaster.finish()
        watcher.eventLoop.execute { [watcher] in watcher.assumeIsolated { $0.stop() } }
    }

    /// What the monitor has done since it was made: messages, losses, evaluations, paths published and not published.
    public var statistics: MonitorStatistics { get async { await watcher.statistics } }
}
