// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration in whole nanoseconds, rounded up and clamped to the range of `Int64` (292 years).
    ///
    /// Rounding up means that a deadline made from it is never early.
    package var nanosecondsRoundedUp: Int64 {
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: rest > 0 ? whole + 1 : whole)
    }

    /// The duration, clamped to what `Int64` can hold in nanoseconds (292 years), so that it can be added to an instant
    /// or to another such duration.
    package var clamped: Duration { min(max(self, .nanoseconds(Int64.min)), .nanoseconds(Int64.max)) }

    /// The duration in whole nanoseconds, rounded down and clamped to the range of `Int64`.
    package var nanosecondsRoundedDown: Int64 {
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: rest < 0 ? whole - 1 : whole)
    }
}
