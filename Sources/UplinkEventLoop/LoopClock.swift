// SPDX-License-Identifier: Apache-2.0
import CLibUV
import UplinkCore

/// A clock whose sleepers wait on an event loop: monotonic, never early, and made for a very large number of sleepers.
///
/// All sleepers share one timer, so that a million of them cost 20 MB and not a timer each. Like `CLOCK_MONOTONIC`, the
/// clock stops while the system sleeps.
public struct LoopClock: Clock, Sendable {
    /// A moment on the clock.
    public struct Instant: InstantProtocol, Sendable, Hashable {
        /// Nanoseconds since the clock's arbitrary start, as `uv_hrtime` counts them.
        let nanoseconds: Int64

        /// Returns the moment that is later by `duration`, clamped to what the clock can count (292 years).
        public func advanced(by duration: Duration) -> Self {
            let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.nanosecondsRoundedUp)
            return Self(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
        }

        /// Returns the time from this moment to another.
        public func duration(to other: Self) -> Duration {
            .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
        }

        /// Whether `left` comes first.
        public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
    }

    private let sleepers: LoopSleepers

    /// Makes a clock on a loop. Each clock has its own timer, so share one among many sleepers.
    public init(on loop: EventLoop) { sleepers = LoopSleepers(loop: loop) }

    /// The clock on ``EventLoop/shared``.
    public static let shared = LoopClock(on: .shared)

    /// The current moment.
    public var now: Instant { Instant(nanoseconds: Int64(clamping: uv_hrtime())) }

    /// A millisecond, the resolution of libuv's timers.
    public var minimumResolution: Duration { .milliseconds(1) }

    /// Sleeps for a time: never less, and on an idle machine at most about a millisecond more.
    ///
    /// - Parameters:
    ///   - duration: How long to sleep.
    ///   - tolerance: Not used: all sleepers share one timer anyway.
    /// - Throws: `CancellationError` immediately when the task is cancelled, ``EventLoopError`` when the loop has
    ///   ended.
    public func sleep(for duration: Duration, tolerance: Duration? = nil) async throws {
        try await sleep(until: now.advanced(by: duration))
    }

    /// Sleeps until the deadline has passed: never less, and on an idle machine at most about a millisecond more.
    ///
    /// - Parameters:
    ///   - deadline: When to wake.
    ///   - tolerance: Not used: all sleepers share one timer anyway.
    /// - Throws: `CancellationError` immediately when the task is cancelled, ``EventLoopError`` when the loop has
    ///   ended.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        guard deadline > now else { return }
        try await sleepers.sleep(until: deadline.nanoseconds)
    }
}
