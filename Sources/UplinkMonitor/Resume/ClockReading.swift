// SPDX-License-Identifier: Apache-2.0

/// The reading of two of the kernel's clocks at one moment (`clock_gettime(2)`).
struct ClockReading: Sendable, Equatable {
    /// `CLOCK_BOOTTIME`, which keeps running while the system sleeps.
    var boottime: Duration
    /// `CLOCK_MONOTONIC`, which does not; read right before and right after the other clock.
    var monotonic: ClosedRange<Duration>

    /// How long the system has slept since it was booted: between the lower and the upper bound.
    var slept: ClosedRange<Duration> { boottime - monotonic.upperBound...boottime - monotonic.lowerBound }
}
