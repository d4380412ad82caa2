// SPDX-License-Identifier: Apache-2.0
import Uplink

extension LinuxNetworkMonitor {
    private static let made = Result { () throws(NetworkMonitorError) in
        LinuxNetworkMonitor(on: .shared, configuration: try .init(whenUnavailable: .poll(every: .seconds(5))))
    }

    /// The monitor of `files`, which looks at the network every five seconds where netlink is refused, as in some
    /// sandboxes: a server can be reached there, too.
    static func polling() throws(NetworkMonitorError) -> LinuxNetworkMonitor { try made.get() }
}
