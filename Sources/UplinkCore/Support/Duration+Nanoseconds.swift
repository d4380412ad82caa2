// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration in whole nanoseconds, rounded up and held within what `Int64` can say (292 years).
    ///
    /// Rounded up, so that a deadline made of it is never early.
    package var nanosecondsRoundedUp: Int64 {
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: rest > 0 ? whole + 1 : whole)
    }

    /// The duration in whole nanoseconds, rounded down and held within what `Int64` can say.
    package var nanosecondsRoundedDown: Int64 {
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: rest < 0 ? whole - 1 : whole)
    }
}
