// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkEventLoop

/// Inspects the network at intervals if there is no netlink: the shell around ``HostFiles`` and ``HostSnapshot``.
/// Belongs to the loop's thread; files are read off the loop, since the calls can wait for locks of the kernel.
final class NetworkPoller {
    /// The addresses to ask about: probes of the internet, or the one destination.
    let targets: [IPAddress]
    let interval: Duration
    let files = HostFiles()
    let timer: LoopTimer
    /// Whether a reading is under way; there is one at a time.
    var isReading = false
    /// Whether something has happened since the reading began, so that another follows at once.
    var isWantedAgain = false
    /// The last result.
    var latest: HostSnapshot?

    init(
        for owner: isolated PathWatcher, targets: [IPAddress], every interval: Duration,
        _ due: @escaping @Sendable (isolated PathWatcher) -> Void
    ) throws(EventLoopError) {
        self.targets = targets
        self.interval = interval
        timer = try LoopTimer(for: owner, due)
    }
}
