// SPDX-License-Identifier: Apache-2.0

/// Any clock, reduced to the time since this value was made.
package struct ElapsedClock: Sendable {
    /// The time that has passed.
    package let now: @Sendable () -> Duration
    private let sleeper: @Sendable (_ deadline: Duration) async throws -> Void

    package init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleeper = { try await clock.sleepWithFallback(until: start.advanced(by: $0)) }
    }

    /// Sleeps until this much time has passed.
    ///
    /// - Throws: `CancellationError` immediately when the task is cancelled, and nothing else.
    package func sleep(until deadline: Duration) async throws { try await sleeper(deadline) }

    /// Sleeps for a duration, 292 years at most.
    ///
    /// - Throws: As ``sleep(until:)``.
    package func sleep(for duration: Duration) async throws { try await sleep(until: now() + duration.clamped) }
}
