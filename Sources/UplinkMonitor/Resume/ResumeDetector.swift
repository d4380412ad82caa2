// SPDX-License-Identifier: Apache-2.0

/// What two of the kernel's clocks say at one moment (`clock_gettime(2)`).
struct ClockReading: Sendable, Equatable {
    /// `CLOCK_BOOTTIME`, which goes on while the system sleeps.
    var boottime: Duration
    /// `CLOCK_MONOTONIC`, which does not; read right before the other clock and right after it.
    var monotonic: ClosedRange<Duration>

    /// How long the system has slept since it was booted: not less than the lower bound, not more than the upper.
    var slept: ClosedRange<Duration> { boottime - monotonic.upperBound...boottime - monotonic.lowerBound }
}

/// Tells a sleep of the system from a wall clock that was set: only in a sleep do the kernel's two clocks part. Pure.
struct ResumeDetector {
    /// Clocks that part by less were read at different moments. No system sleeps so briefly.
    private static let tolerance = Duration.milliseconds(1)

    private var last: ClockReading

    /// Begins with the clocks as they are.
    init(_ now: ClockReading) { last = now }

    /// How long the system has slept since the last call, or nil when it has not.
    mutating func sleep(until now: ClockReading) -> Duration? {
        let least = now.slept.lowerBound - last.slept.upperBound
        guard least > Self.tolerance else {
            // The tighter bounds are kept, lest several careless readings hide a sleep.
            if now.slept.upperBound - now.slept.lowerBound < last.slept.upperBound - last.slept.lowerBound {
                last = now
            }
            return nil
        }
        last = now
        return least
    }
}
