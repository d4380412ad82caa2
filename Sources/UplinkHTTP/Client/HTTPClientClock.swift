// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Any clock, reduced to the time since the client was made.
package struct HTTPClientClock: Sendable {
    /// The current time.
    package let now: @Sendable () -> Duration
    /// Sleeps for a duration; throws `CancellationError` as soon as the task is cancelled.
    package let sleep: @Sendable (Duration) async throws -> Void

    package init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleepWithFallback(until: clock.now.advanced(by: $0)) }
    }
}
