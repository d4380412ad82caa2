// SPDX-License-Identifier: Apache-2.0

/// Dates as HTTP writes them (RFC 9110, section 5.6.7): the one form that is sent, and the two older ones that are
/// still read.
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longDays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]

    /// Returns seconds since 1970-01-01 00:00:00 UTC, or nil if the text is not a date. Case matters, as in the
    /// grammar.
    ///
    /// - Parameter now: Seconds since 1970. Determines the century of a two-digit year: the date is at most 50 years
    ///   ahead or ago.
    package static func seconds(of text: String, now: Int64) -> Int64? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        switch words.count {
        case 6: return fixed(words)
        case 4: return rfc850(words, now: now)
        case 5: return asctime(words)
        default: return nil
        }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, and `Sun Nov  6 08:49:37 1994`, whose two spaces produce an empty word.
    private static func fixed(_ words: [String]) -> Int64? {
        guard words[0].hasSuffix(",") else {
            guard words[2].isEmpty, words[3].utf8.count == 1 else { return nil }
            return asctime([words[0], words[1], "0" + words[3], words[4], words[5]])
        }
        guard words[5] == "GMT", days.contains(String(words[0].dropLast())) else { return nil }
        return seconds(day: words[1], month: words[2], year: number(words[3], digits: 4), time: words[4])
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`.
    private static func rfc850(_ words: [String], now: Int64) -> Int64? {
        let date = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard words[3] == "GMT", words[0].hasSuffix(","), longDays.contains(String(words[0].dropLast())),
            date.count == 3, let short = number(date[2], digits: 2)
        else { return nil }
        let thisYear = 1970 + now / 31_556_952
        var year = thisYear - thisYear % 100 + short
        if year > thisYear + 50 { year -= 100 } else if year <= thisYear - 50 { year += 100 }
        return seconds(day: date[0], month: date[1], year: year, time: words[2])
    }

    /// `Sun Nov 16 08:49:37 1994`.
    private static func asctime(_ words: [String]) -> Int64? {
        guard days.contains(words[0]) else { return nil }
        return seconds(day: words[2], month: words[1], year: number(words[4], digits: 4), time: words[3])
    }

    private static func seconds(day: String, month: String, year: Int64?, time: String) -> Int64? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), digits: 2) }
        guard let year, year > 0, let day = number(day, digits: 2), let month = months.firstIndex(of: month),
            parts.count == 3,
            let hour = parts[0], let minute = parts[1], let second = parts[2], hour < 24, minute < 60,
            second <= 60,  // a leap second
            day >= 1, day <= length(of: month, in: year)
        else { return nil }
        return ((days(before: month, in: year) + day - 1) * 24 + hour) * 3600 + minute * 60 + second
    }

    private static func number(_ text: String, digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int64(text)
    }

    private static func isLeap(_ year: Int64) -> Bool { (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 }

    private static func length(of month: Int, in year: Int64) -> Int64 {
        switch month {
        case 1: isLeap(year) ? 29 : 28
        case 3, 5, 8, 10: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 to the first of a month, in the Gregorian calendar.
    private static func days(before month: Int, in year: Int64) -> Int64 {
        let past = year - 1  // leap days of the years before, counted from year 1
        let leapDays = past / 4 - past / 100 + past / 400 - 477
        return (year - 1970) * 365 + leapDays + (0..<month).reduce(0) { $0 + length(of: $1, in: year) }
    }
}
