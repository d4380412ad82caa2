// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkEventLoop

extension PathWatcher {
    /// Whether the network is looked at from time to time from now on, because netlink is refused and the configuration
    /// says so.
    func startPolling(insteadOf error: NetworkMonitorError) -> Bool {
        guard case .poll(let interval) = configuration.whenUnavailable, !configuration.isForOtherSockets,
            let refusal = error.underlyingError as? NetlinkError, refusal.isRefusal
        else { return false }
        do {
            handles.poller = try NetworkPoller(for: self, targets: configuration.targets, every: interval) { $0.poll() }
            try openTimers()
        } catch {
            close()
            return false
        }
        poll()
        return true
    }

    /// Looks at the network now, unless that is under way.
    func poll() {
        guard let poller = handles.poller, !poller.isReading else { return }
        poller.isReading = true
        counted.polls += 1
        let (files, targets) = (poller.files, poller.targets)
        eventLoop.offLoop {
            files.read(probes: targets)
        } completion: { [weak self] result in
            self?.assumeIsolated { $0.polled(files, try? result.get()) }  // fails when the loop ends, which is told
        }
    }

    private func polled(_ files: HostFiles, _ snapshot: HostSnapshot?) {
        guard let poller = handles.poller, poller.files === files else { return }
        poller.isReading = false
        poller.timer.start(after: poller.interval)
        guard let snapshot else { return }
        poller.latest = snapshot
        let path = snapshot.path(
            probes: poller.targets, destination: configuration.target.destination, hints: configuration.hints)
        guarded { () throws(NetworkMonitorError) in try learned(path) }
    }
}
