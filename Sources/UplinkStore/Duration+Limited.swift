// SPDX-License-Identifier: Apache-2.0
#if Store
extension Duration {
    /// A hundred years: longer than anyone waits, and short enough to add to a clock.
    static let longest = Duration.seconds(100 * 366 * 86_400)

    /// A duration from a number in the database, which anyone may have written: `Duration.seconds` traps if it is too
    /// large or not a number.
    static func limited(seconds: Double) -> Duration {
        let limit = longest / .seconds(1)
        return seconds.isNaN ? .zero : .seconds(min(max(seconds, 0), limit))
    }
}
#endif
