// SPDX-License-Identifier: Apache-2.0
public import UplinkCore
public import UplinkEventLoop

/// Tells the network's path as the Linux kernel knows it, and every change of it, without sending a packet.
///
/// ```swift
/// for try await path in LinuxNetworkMonitor.shared.paths {
///     print(path)  // satisfied: eth0 (ethernet), IPv4 192.0.2.10 via 192.0.2.1
/// }
/// ```
///
/// The monitor asks the kernel which way a packet to the internet would take (rtnetlink(7)), so policy rules, VPNs and
/// several uplinks are judged as the kernel itself does. It needs no privileges and no daemon. It works while somebody
/// iterates over ``paths``: it starts with the first subscriber, pauses after the last, and costs nothing while the
/// network stays as it is.
///
/// The network is that of the namespace which the loop's thread is in.
public final class LinuxNetworkMonitor: NetworkMonitor, Sendable {
    /// The process's monitor, on `EventLoop.shared`.
    public static let shared = LinuxNetworkMonitor(on: .shared)

    let watcher: PathWatcher
    private let broadcaster: NetworkPathBroadcaster
    private let changeBroadcaster: NetworkChangeBroadcaster

    /// Makes a monitor. It opens nothing until somebody subscribes.
    ///
    /// - Parameters:
    ///   - loop: The loop to work on; its thread's network namespace is the one that is watched.
    ///   - configuration: How to look at the network.
    ///   - validator: Finds out whether the internet answers; nil sends nothing. What it finds stands in
    ///     `FamilyPath.validation` and decides nothing else.
    public init(on loop: EventLoop, configuration: Configuration = .init(), validator: PathValidator? = nil) {
        let watcher = PathWatcher(on: loop, configuration, validator)
        let reconcile: @Sendable () -> Void = { loop.execute { watcher.assumeIsolated { $0.reconcile() } } }
        let broadcaster = NetworkPathBroadcaster(onDemandChange: reconcile)
        let changeBroadcaster = NetworkChangeBroadcaster(onDemandChange: reconcile)
        loop.execute { [weak broadcaster, weak changeBroadcaster] in
            watcher.assumeIsolated { $0.attach(broadcaster, changeBroadcaster) }
        }
        self.watcher = watcher
        self.broadcaster = broadcaster
        self.changeBroadcaster = changeBroadcaster
    }

    /// The path as it is now, or nil while nobody subscribes and until the first answer, which takes milliseconds.
    public var currentPath: NetworkPath? { broadcaster.currentPath }

    /// The kernel answers within milliseconds; on a machine that is busy with other things it may take as long as this.
    public var timeToFirstPath: Duration { .seconds(5) }

    /// The current path, then every change: a new path comes when the status, the reason, the scope, a usable family's
    /// interface, gateway, source address or validation, what carries a tunnel, what use costs or the name servers
    /// differ, and after a sleep of the system. Other members alone bring none.
    ///
    /// Iterating throws `NetworkMonitorError` when the system refuses netlink. Having no network is not an error.
    public var paths: NetworkPaths { broadcaster.paths }

    /// What connections may not survive: local addresses that are gone, default routes that lead elsewhere, a sleep of
    /// the system.
    ///
    /// Told at once, without the interval and the hold-down of ``paths``. Whoever iterates keeps the monitor at work.
    public var changes: NetworkChanges { changeBroadcaster.changes }

    /// Says that the network does not work, though the path says that it should: the kernel is asked again, and with a
    /// validator every family is probed again, at most once a second.
    public func reportBadNetwork() {
        watcher.eventLoop.execute { [watcher] in watcher.assumeIsolated { $0.reportBadNetwork() } }
    }

    /// Ends all sequences and the monitor itself, for good. Harmless when repeated.
    public func stop() {
        broadcaster.finish()
        changeBroadcaster.finish()
        watcher.eventLoop.execute { [watcher] in watcher.assumeIsolated { $0.stop() } }
    }

    /// What the monitor has done since it was made: messages, losses, evaluations, what was told and what was not.
    public var statistics: MonitorStatistics { get async { await watcher.statistics } }
}
