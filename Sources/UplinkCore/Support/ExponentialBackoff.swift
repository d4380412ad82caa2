// SPDX-License-Identifier: Apache-2.0

/// Pauses that grow with each failure in a row, up to a maximum, and are shortened at random, so that many that failed
/// together do not come back together.
package struct ExponentialBackoff: Sendable {
    /// The pause after the first failure; negative counts as zero.
    package let initial: Duration
    /// The factor for each further failure, 1 at least.
    package let factor: Double
    /// The longest pause; negative counts as zero.
    package let maximum: Duration
    /// The share of a pause that is random: 0 for none, 1 for all of it.
    package let jitter: Double

    package init(initial: Duration, factor: Double = 2, maximum: Duration, jitter: Double) {
        // Clamped, because a longer pause could not be added to an instant.
        self.maximum = max(maximum.clamped, .zero)
        self.initial = min(max(initial, .zero), self.maximum)
        self.factor = factor
        self.jitter = jitter
    }

    /// The pause after this many failures in a row.
    ///
    /// - Parameter chance: A random number from 0, for the shortest pause, to 1, for the longest. The caller's own
    ///   generator may give any number: others are clamped, and NaN counts as 1.
    package func pause(after failures: Int, chance: Double = 1) -> Duration {
        var pause = initial
        var growths = max(failures, 1) - 1
        while growths > 0, factor > 1, pause > .zero, pause < maximum {
            pause = pause < maximum / factor ? pause * factor : maximum
            growths -= 1
        }
        let chance = chance.isNaN ? 1 : min(max(chance, 0), 1)
        return min(pause * (1 - jitter + jitter * chance), pause)  // a Double may be a little more than a long pause
    }
}
