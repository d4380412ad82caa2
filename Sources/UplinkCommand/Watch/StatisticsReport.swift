// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkMonitor

/// Writes a monitor's statistics to standard error: at every SIGUSR1, and at the end.
struct StatisticsReport: Sendable {
    let monitor: LinuxNetworkMonitor
    let isJSON: Bool

    /// Writes at every SIGUSR1, until the task is cancelled.
    func followSignals() async throws {
        let signals = Signals()
        try await signals.watch([SIGUSR1])
        for await _ in signals.received { await write() }
    }

    /// Writes the current statistics.
    func write() async {
        let statistics = await monitor.statistics
        let line = isJSON ? statistics.json : "statistics: \(statistics)"
        try? Output.error.write(line + "\n")  // without a standard error, no one wants to know
    }
}
