// SPDX-License-Identifier: Apache-2.0

/// Any clock, reduced to nanoseconds since the performer was made. Apart from `ElapsedClock`, through which a call
/// would take some fifty instructions more.
struct PerformerClock: Sendable {
    /// The current time. Rounded down, so that nothing counts as due too early.
    let now: @Sendable () -> Int64
    private let sleeper: @Sendable (Int64) async throws -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        now = { start.duration(to: clock.now).nanosecondsRoundedDown }
        sleeper = { try await clock.sleepWithFallback(until: start.advanced(by: .nanoseconds($0))) }
    }

    func sleep(until deadline: Int64) async throws { try await sleeper(deadline) }
}
