// SPDX-License-Identifier: Apache-2.0

/// A monitor with a clock for those who wait for its paths.
///
/// Most waits are cancelled, and one of Swift's own clocks would keep 700 bytes for each until its deadline.
package protocol ClockedMonitor: NetworkMonitor {
    /// As `SuspendingClock`, it stands still while the system sleeps.
    var clock: any Clock<Duration> { get }
}
