// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration in whole nanoseconds, rounded up and held within what `Int64` can say (292 years).
    ///
    /// Rounded up, so that a deadline made of it is never early.
    package var nanosecondsRoundedUp: Int64 { nanoseconds { ($0 + 999_999_999) / 1_000_000_000 } }

    /// The duration in whole nanoseconds, rounded down and held within what `Int64` can say.
    package var nanosecondsRoundedDown: Int64 { nanoseconds { $0 / 1_000_000_000 } }

    /// `round` makes nanoseconds of the attoseconds that are left over the floor of seconds.
    private func nanoseconds(_ round: (Int64) -> Int64) -> Int64 {
        // Before anything else: `components` itself traps on what does not fit into 64 bits.
        if self >= .nanoseconds(Int64.max) { return .max }
        if self <= .nanoseconds(Int64.min) { return .min }
        var (seconds, attoseconds) = components
        if attoseconds < 0 { (seconds, attoseconds) = (seconds - 1, attoseconds + 1_000_000_000_000_000_000) }
        let (whole, isTooSmall) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLarge) = whole.addingReportingOverflow(round(attoseconds))
        return isTooSmall ? .min : isTooLarge ? .max : sum
    }
}
