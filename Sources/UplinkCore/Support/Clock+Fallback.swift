// SPDX-License-Identifier: Apache-2.0

extension Clock where Duration == Swift.Duration {
    /// Sleeps until the deadline has passed; on the system's clock where this one fails, as when its event loop has ended,
    /// lest a limit be forgotten or a pause be none.
    ///
    /// - Throws: `CancellationError` at once when the task is cancelled, and nothing else.
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
