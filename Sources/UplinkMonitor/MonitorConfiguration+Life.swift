// SPDX-License-Identifier: Apache-2.0
import UplinkCore

extension LinuxNetworkMonitor.Configuration {
    /// What a monitor does where the system refuses netlink (a sandbox, gVisor, Android).
    public enum Unavailability: Sendable, Hashable {
        /// The streams throw `NetworkMonitorError` with the code `unavailable` at once. Nothing is tried
        /// again by itself: who iterates anew starts anew.
        case fail
        /// The network is looked at from time to time, by means that need no netlink. Such paths have
        /// `NetworkPath.isAuthoritative` false, and are satisfied where what can be seen leaves a doubt. They have no
        /// name servers, no alternatives, no `networkID`, no `gateways` of interfaces (those of the families are there as far
        /// as the tables tell them) and nothing about what carries a tunnel.
        ///
        /// With `mark`, `uid` or `outputInterface` the streams throw as with ``fail``: without netlink, nobody can be
        /// asked on behalf of other sockets.
        case poll(every: Duration)
    }

    /// For people who want no alarm over a short break, such as an icon in a status bar: a loss is told when it has
    /// lasted for 1.5 seconds, and two paths are 0.5 seconds apart at least.
    ///
    /// These are the times that Chromium waits before it believes that a machine is offline, or has another connection.
    public static var calm: Self {
        var configuration = Self()
        configuration.minimumInterval = .milliseconds(500)
        configuration.settle = .milliseconds(1500)
        return configuration
    }

    static func check(settle: Duration, _ whenUnavailable: Unavailability) throws(NetworkMonitorError) {
        guard (.zero ... .seconds(300)).contains(settle) else {
            throw .invalid("settle is \(settle); give zero to 300 seconds")
        }
        switch whenUnavailable {
        case .fail: break
        case .poll(let interval):
            guard (.milliseconds(100) ... .seconds(3600)).contains(interval) else {
                throw .invalid("whenUnavailable polls every \(interval); give 0.1 to 3600 seconds")
            }
        }
    }
}
