// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration in whole nanoseconds, rounded up and held within what `Int64` can say (292 years).
    ///
    /// Rounded up, so that a deadline made of it is never early.
    package var nanosecondsRoundedUp: Int64 {
        let (seconds, attoseconds) = components
        let fraction = attoseconds >= 0 ? (attoseconds + 999_999_999) / 1_000_000_000 : attoseconds / 1_000_000_000
        let (whole, tooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflow) = whole.addingReportingOverflow(fraction)
        return tooLarge || overflow ? (seconds < 0 ? .min : .max) : sum
    }
}
