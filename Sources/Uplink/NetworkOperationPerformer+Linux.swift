// SPDX-License-Identifier: Apache-2.0
public import UplinkCore
import UplinkEventLoop
import UplinkMonitor

extension NetworkOperationPerformer {
    /// Creates a performer on the process-wide monitor of the kernel's network, timed by the process-wide event loop.
    ///
    /// Creating one costs nothing, and a temporary one completes its call: `await
    /// NetworkOperationPerformer().perform…`. Its limits stand still while the system sleeps.
    public convenience init() { self.init(monitor: LinuxNetworkMonitor.shared, clock: LoopClock.shared) }
}
