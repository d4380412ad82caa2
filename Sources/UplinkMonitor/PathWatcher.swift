// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
import UplinkEventLoop

/// Watches the kernel's network on a loop while there is demand, and gives every path to the broadcaster.
///
/// The broadcaster keeps the watcher alive, never the other way round: when nobody holds the monitor or one of its
/// sequences any more, both go, and the sockets with them.
actor PathWatcher: LoopActor {
    nonisolated let eventLoop: EventLoop
    private let configuration: LinuxNetworkMonitor.Configuration
    private weak var broadcaster: NetworkPathBroadcaster?
    private var network: KernelNetwork?
    private var watcher: DescriptorWatcher?
    private var intervalTimer: LoopTimer?
    private var expiryTimer: LoopTimer?
    private var emission: PathEmission
    private var isStopped = false

    init(on loop: EventLoop, _ configuration: LinuxNetworkMonitor.Configuration) {
        eventLoop = loop
        self.configuration = configuration
        emission = PathEmission(minimumInterval: configuration.minimumInterval, settle: configuration.settle)
    }

    isolated deinit { close() }

    /// Says whom the paths are for. Comes before everything else.
    func attach(_ broadcaster: NetworkPathBroadcaster?) { self.broadcaster = broadcaster }

    /// Starts with the first subscriber and pauses after the last, whatever it was that changed.
    func reconcile() {
        let isWanted = !isStopped && broadcaster?.hasSubscribers == true
        if isWanted, network == nil { start() }
        if !isWanted, network != nil { pause() }
    }

    /// Ends the work for good.
    func stop() {
        isStopped = true
        close()
    }

    /// What has been done since the last start.
    var statistics: MonitorStatistics {
        var statistics = network?.statistics ?? MonitorStatistics()
        statistics.suppressed = emission.suppressed
        return statistics
    }

    /// The port of the event socket, for tests that forge messages.
    var eventPort: UInt32 { network?.eventPort ?? 0 }

    /// Looks for events without being told that there are any, for tests.
    func readNow() { ready(.readable) }

    private func start() {
        do throws(NetworkMonitorError) {
            let network = try open()
            self.network = network
            try evaluate(network)
        } catch {
            fail(error)
        }
    }

    private func open() throws(NetworkMonitorError) -> KernelNetwork {
        do {
            let network = try KernelNetwork(configuration)
            let watcher = try DescriptorWatcher(
                of: network.eventDescriptor, for: self, ended: { $0.fail(.loopEnded) }, { $0.ready($1) })
            intervalTimer = try LoopTimer(for: self) { $0.intervalEnded() }
            expiryTimer = try LoopTimer(for: self) { $0.routeExpired() }
            self.watcher = watcher
            watcher.start(.readable)
            return network
        } catch let error as NetlinkError {
            throw .unavailable(error)
        } catch {
            throw .unavailable(error)
        }
    }

    private func pause() {
        close()
        broadcaster?.forgetIfUnobserved()
    }

    /// Closes the sockets; the watcher first, because the descriptor's number may be another's at once.
    private func close() {
        watcher?.close()
        watcher = nil
        intervalTimer?.stop()
        intervalTimer = nil
        expiryTimer?.stop()
        expiryTimer = nil
        network = nil
        emission.restart()
    }

    private func fail(_ error: NetworkMonitorError) {
        close()
        broadcaster?.fail(error)
    }

    private func ready(_ readiness: Readiness) {
        guard let network else { return }
        do throws(NetworkMonitorError) {
            let isRelevant = try reading { () throws(NetlinkError) in try network.readEvents() }
            if isRelevant { try evaluate(network) }
            if readiness.contains(.error) { watcher?.start(.readable) }  // libuv has stopped watching
        } catch {
            fail(error)
        }
    }

    private func intervalEnded() {
        guard let network else { return }
        do throws(NetworkMonitorError) {
            try perform(emission.timerFired(at: .now), network)
        } catch {
            fail(error)
        }
    }

    private func routeExpired() {
        guard let network else { return }
        do throws(NetworkMonitorError) {
            try evaluate(network)
        } catch {
            fail(error)
        }
    }

    private func evaluate(_ network: KernelNetwork) throws(NetworkMonitorError) {
        let path = try reading { () throws(NetlinkError) in try network.path() }
        if let time = network.timeToExpiry {
            expiryTimer?.start(after: time + .milliseconds(20))  // the kernel rounds to ticks
        } else {
            expiryTimer?.stop()
        }
        try perform(emission.evaluated(path, at: .now), network)
    }

    private func perform(_ action: PathEmission.Action, _ network: KernelNetwork) throws(NetworkMonitorError) {
        switch action {
        case .none: break
        case .wait(let duration): intervalTimer?.start(after: duration)
        case .emit(let path):
            let whole = try reading { () throws(NetlinkError) in try network.completed(path) }
            broadcaster?.send(whole)
        }
    }

    /// A failure on a socket that worked: told once, because trying again at once could go on for ever.
    private func reading<Result>(_ body: () throws(NetlinkError) -> Result) throws(NetworkMonitorError) -> Result {
        do { return try body() } catch { throw .failed(error) }
    }
}

extension NetworkMonitorError {
    fileprivate static func unavailable(_ error: NetlinkError) -> Self {
        let remedy =
            switch error.errno {
            case EMFILE, ENFILE: "raise the limit on open files (ulimit -n)"
            case _ where error.isRefusal:
                "a sandbox (seccomp, gVisor, SELinux) forbids rtnetlink; allow socket(AF_NETLINK, …, NETLINK_ROUTE),"
                    + " for systemd units RestrictAddressFamilies=AF_NETLINK"
            default: "the system is short of memory, or its kernel has no rtnetlink"
            }
        let message = "the network cannot be watched: \(error); \(remedy)"
        return Self(.unavailable, message: message, underlyingError: error)
    }

    fileprivate static func unavailable(_ error: any Error) -> Self {
        Self(.unavailable, message: "the network cannot be watched: \(error)", underlyingError: error)
    }

    fileprivate static let loopEnded = Self(
        .failed,
        message: "the network can no longer be watched: the monitor's event loop has ended; iterate within its scope")

    fileprivate static func failed(_ error: NetlinkError) -> Self {
        let message = "the network can no longer be watched: \(error); iterate over `paths` again to start anew"
        return Self(.failed, message: message, underlyingError: error)
    }
}
