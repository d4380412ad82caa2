// SPDX-License-Identifier: Apache-2.0
import CLibUV
import UplinkCore

/// A clock whose sleepers wait on an event loop: monotonic, never early, and made for very many of them.
///
/// All sleepers share one timer, so that a million cost 20 MB and not a timer each. The clock goes on while the system
/// sleeps only as `CLOCK_MONOTONIC` does, that is, not at all.
public struct LoopClock: Clock, Sendable {
    /// A moment on the clock.
    public struct Instant: InstantProtocol, Sendable, Hashable {
        /// Nanoseconds since the clock's arbitrary start, as `uv_hrtime` counts them.
        let nanoseconds: Int64

        /// The moment so much later, held within what the clock can count (292 years).
        public func advanced(by duration: Duration) -> Self {
            let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.nanosecondsRoundedUp)
            return Self(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
        }

        /// The time from this moment to another.
        public func duration(to other: Self) -> Duration {
            .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
        }

        /// Whether this moment comes first.
        public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
    }

    private let sleepers: LoopSleepers

    /// A clock on a loop; each has a timer of its own, so share one clock among many sleepers.
    public init(on loop: EventLoop) { sleepers = LoopSleepers(loop: loop) }

    /// The clock on ``EventLoop/shared``.
    public static let shared = LoopClock(on: .shared)

    /// The moment now.
    public var now: Instant { Instant(nanoseconds: Int64(clamping: uv_hrtime())) }

    /// A millisecond, as libuv's timers have it.
    public var minimumResolution: Duration { .milliseconds(1) }

    /// Sleeps for a time: never less, and on an idle machine about a millisecond more at most.
    ///
    /// - Parameters:
    ///   - duration: How long.
    ///   - tolerance: Not used: all sleepers share a timer as it is.
    /// - Throws: `CancellationError` at once when the task is cancelled, ``EventLoopError`` when the loop has ended.
    public func sleep(for duration: Duration, tolerance: Duration? = nil) async throws {
        try await sleep(until: now.advanced(by: duration))
    }

    /// Sleeps until the deadline has passed: never less, and on an idle machine about a millisecond more at most.
    ///
    /// - Parameters:
    ///   - deadline: When to wake.
    ///   - tolerance: Not used: all sleepers share a timer as it is.
    /// - Throws: `CancellationError` at once when the task is cancelled, ``EventLoopError`` when the loop has ended.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        guard deadline > now else { return }
        try await sleepers.sleep(until: deadline.nanoseconds)
    }
}
