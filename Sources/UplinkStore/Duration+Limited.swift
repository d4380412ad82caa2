// SPDX-License-Identifier: Apache-2.0
#if Store
extension Duration {
    /// A hundred years: longer than anybody waits, and short enough to be added to a clock.
    static let longest = Duration.seconds(100 * 366 * 86_400)

    /// A time from a number that anybody may have written into the database: `Duration.seconds` traps where it is too large
    /// or none at all.
    static func limited(seconds: Double) -> Duration {
        let limit = longest / .seconds(1)
        return seconds.isNaN ? .zero : .seconds(min(max(seconds, 0), limit))
    }
}
#endif
