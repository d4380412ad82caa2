// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkMonitor

extension CurlTransport.Configuration {
    /// The same configuration, with the changes of the process-wide monitor if nothing else was chosen and the loop is
    /// the shared one, which is in the network that this monitor watches.
    func hearingOfChanges(on loop: EventLoop) -> Self {
        guard networkChanges == nil, loop === EventLoop.shared else { return self }
        var configuration = self
        configuration.networkChanges = LinuxNetworkMonitor.shared.changes
        return configuration
    }
}
