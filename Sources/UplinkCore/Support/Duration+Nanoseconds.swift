// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration in whole nanoseconds, rounded up and held within what `Int64` can say (292 years).
    ///
    /// Rounded up, so that a deadline made of it is never early.
    package var nanosecondsRoundedUp: Int64 {
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: rest > 0 ? whole + 1 : whole)
    }

    /// The duration, held within what `Int64` can say in nanoseconds (292 years), so that a moment or another one of these
    /// can be added to it.
    package var clamped: Duration { min(max(self, .nanoseconds(Int64.min)), .nanoseconds(Int64.max)) }

    /// The duration in whole nanoseconds, rounded down and held within what `Int64` can say.
    package var nanosecondsRoundedDown: Int64 {
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: rest < 0 ? whole - 1 : whole)
    }
}
