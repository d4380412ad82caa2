// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkMonitor

/// Writes a monitor's statistics to the standard error: whenever SIGUSR1 comes, and at the end.
struct StatisticsReport: Sendable {
    let monitor: LinuxNetworkMonitor
    let isJSON: Bool

    /// Writes at every SIGUSR1, until the task is cancelled.
    func followSignals() async throws {
        let signals = Signals()
        try await signals.watch([SIGUSR1])
        for await _ in signals.received { await write() }
    }

    /// Writes them as they are now.
    func write() async {
        let statistics = await monitor.statistics
        let line = isJSON ? statistics.json : "statistics: \(statistics)"
        try? Output.error.write(line + "\n")  // where there is no standard error, nobody wants to know
    }
}
