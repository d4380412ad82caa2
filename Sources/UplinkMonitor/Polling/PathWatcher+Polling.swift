// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkEventLoop

extension PathWatcher {
    /// Starts polling if netlink is refused and the configuration says so; returns whether it did.
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

    /// Inspects the network now, or once more if that is already under way: it may have begun before what happened.
    func poll() {
        guard let poller = handles.poller else { return }
        guard !poller.isReading else { return poller.isWantedAgain = true }
        (poller.isReading, poller.isWantedAgain) = (true, false)
        counted.polls += 1
        let (files, targets) = (poller.files, poller.targets)
        eventLoop.offLoop {
            files.read(probes: targets)
        } completion: { [weak self] result in
            self?.assumeIsolated { $0.polled(files, try? result.get()) }  // fails when the loop ends, which is reported
        }
    }

    private func polled(_ files: HostFiles, _ snapshot: HostSnapshot?) {
        guard let poller = handles.poller, poller.files === files else { return }
        poller.isReading = false
        if poller.isWantedAgain { poll() } else { poller.timer.start(after: poller.interval) }
        guard let snapshot else { return }
        poller.latest = snapshot
        let path = snapshot.path(
            probes: poller.targets, destination: configuration.target.destination, hints: configuration.hints)
        guarded { () throws(NetworkMonitorError) in try learned(path) }
    }
}
