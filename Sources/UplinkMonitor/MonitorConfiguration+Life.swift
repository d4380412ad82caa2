// SPDX-License-Identifier: Apache-2.0
import UplinkCore

extension LinuxNetworkMonitor.Configuration {
    /// What a monitor does if the system refuses netlink (a sandbox, gVisor, Android).
    public enum Unavailability: Sendable, Hashable {
        /// The streams throw `NetworkMonitorError` with the code `unavailable` immediately. There is no automatic
        /// retry: iterating again starts again.
        case fail
        /// The network is inspected at intervals, by means that need no netlink. `NetworkPath.isAuthoritative` is false
        /// for such paths, and in doubt they count as satisfied. They have no name servers, no alternatives, no
        /// `networkID`, no `gateways` of interfaces (those of the families are included as far as the tables show them)
        /// and nothing about what carries a tunnel.
        ///
        /// With `mark`, `uid` or `outputInterface` the streams throw as with ``fail``: without netlink, the kernel
        /// cannot be asked on behalf of other sockets.
        case poll(every: Duration)
    }

    /// A configuration for user interfaces that should not react to short outages, such as an icon in a status bar: a
    /// loss is published when it has lasted for 1.5 seconds, and other changes are at least 0.5 seconds apart. The end
    /// of a loss is published immediately.
    ///
    /// These are the times that Chromium waits before it believes that a machine is offline or has another connection.
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
