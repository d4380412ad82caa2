// SPDX-License-Identifier: Apache-2.0

/// How long to wait for an operation; defined for any number that the caller has.
package enum TimeLimit: Equatable {
    /// At most this many nanoseconds; zero means "only if the network is available now".
    case nanoseconds(Int64)
    /// For as long as it takes.
    case unlimited

    /// Makes a limit in seconds: fractions count exactly, negative is zero, infinite and beyond 292 years is unlimited,
    /// NaN is nil.
    package init?(seconds: Double) {
        if seconds.isNaN { return nil }
        let nanoseconds = seconds * 1e9
        if nanoseconds <= 0 {
            self = .nanoseconds(0)
        } else if nanoseconds >= 9.2e18 {
            self = .unlimited
        } else {
            // A product that is off a whole number only by its own rounding means that number; otherwise it is rounded
            // up, so that the limit is never too short.
            let nearest = nanoseconds.rounded()
            let isWhole = abs(nanoseconds - nearest) <= nanoseconds.ulp
            self = .nanoseconds(Int64(isWhole ? max(nearest, 1) : nanoseconds.rounded(.up)))
        }
    }

    /// Makes a limit from a duration: negative is zero, beyond 292 years is unlimited.
    package init(_ duration: Duration) {
        let nanoseconds = duration.nanosecondsRoundedUp
        self = nanoseconds == .max ? .unlimited : .nanoseconds(max(0, nanoseconds))
    }

    /// The time at which the limit ends, counted from `start`; `Int64.max` for never.
    func deadline(from start: Int64) -> Int64 {
        switch self {
        case .unlimited: return .max
        case .nanoseconds(let nanoseconds):
            let (sum, overflow) = start.addingReportingOverflow(nanoseconds)
            return overflow ? .max : sum
        }
    }
}
