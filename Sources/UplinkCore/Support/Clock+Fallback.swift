// SPDX-License-Identifier: Apache-2.0

extension Clock where Duration == Swift.Duration {
    /// Sleeps until the deadline has passed. If this clock fails, for example because its event loop has ended, it
    /// sleeps on the system's clock, so that no limit is forgotten and no pause skipped.
    ///
    /// - Throws: `CancellationError` immediately when the task is cancelled, and nothing else.
    package func sleepWithFallback(until deadline: Instant) async throws(CancellationError) {
        do {
            try await sleep(until: deadline, tolerance: nil)
        } catch {
            do {
                try await Task.sleep(for: now.duration(to: deadline), clock: SuspendingClock())
            } catch {
                throw CancellationError()
            }
        }
    }
}
