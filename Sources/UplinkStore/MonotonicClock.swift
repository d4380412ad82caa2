// SPDX-License-Identifier: Apache-2.0
#if Store
import UplinkCore

/// Any clock, reduced to the time since this value was created.
struct MonotonicClock: Sendable {
    let now: @Sendable () -> Duration
    let sleep: @Sendable (_ until: Duration) async throws -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleepWithFallback(until: start.advanced(by: $0)) }
    }
}
#endif
