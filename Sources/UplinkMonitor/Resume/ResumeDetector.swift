// SPDX-License-Identifier: Apache-2.0

/// Tells a sleep of the system from a wall clock that was set: only during a sleep do the kernel's two clocks diverge.
/// Pure.
struct ResumeDetector {
    /// Clocks that diverge by less were read at different moments. No system sleeps so briefly.
    private static let tolerance = Duration.milliseconds(1)

    private var last: ClockReading

    /// Begins with the clocks as they are.
    init(_ now: ClockReading) { last = now }

    /// Returns how long the system has slept since the last call, or nil if it has not.
    mutating func sleep(until now: ClockReading) -> Duration? {
        let least = now.slept.lowerBound - last.slept.upperBound
        guard least > Self.tolerance else {
            // The tighter bounds are kept, so that several imprecise readings cannot hide a sleep.
            if now.slept.upperBound - now.slept.lowerBound < last.slept.upperBound - last.slept.lowerBound {
                last = now
            }
            return nil
        }
        last = now
        return least
    }
}
