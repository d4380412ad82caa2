// SPDX-License-Identifier: Apache-2.0

/// A moment to the nanosecond, written as in RFC 3339.
struct Timestamp: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01T00:00:00Z.
    let seconds: Int64
    /// 0 to 999,999,999.
    let nanoseconds: Int32

    init(seconds: Int64, nanoseconds: Int32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// - Parameter seconds: Seconds since 1970, of which the fraction is dropped. What no date can have, as in a
    ///   damaged database, becomes the nearest that one can.
    init(wholeSeconds seconds: Double) {
        self.init(seconds: Int64(exactly: seconds.rounded(.down)) ?? (seconds > 0 ? .max : .min))
    }

    static func < (one: Self, other: Self) -> Bool {
        (one.seconds, one.nanoseconds) < (other.seconds, other.nanoseconds)
    }

    /// Days from 1970-01-01 to a day of the Gregorian calendar; years are counted from March, so that the leap day is
    /// the last of its year.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }

    /// The seconds of the years that have four digits.
    private static let writable =
        Int64(days(year: 1, month: 1, day: 1)) * 86_400..<Int64(days(year: 10_000, month: 1, day: 1)) * 86_400

    /// The nearest moment that can be written: files may have dates of any year.
    var nearestWritable: Self {
        if seconds < Self.writable.lowerBound { return Self(seconds: Self.writable.lowerBound) }
        return seconds < Self.writable.upperBound ? self : Self(seconds: Self.writable.upperBound - 1)
    }

    private static func lengthOfMonth(_ month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Timestamp {
    /// Reads `2024-02-29T12:30:00.123456789Z`, with 0 to 9 digits of a fraction; an offset other than `Z` is taken into
    /// account.
    ///
    /// Nil for anything else, and for years other than 1 to 9999 in UTC, which could not be written again.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        guard let year = rest.number(4), rest.take("-"), let month = rest.number(2), rest.take("-"),
            let day = rest.number(2), rest.take("T") || rest.take("t") || rest.take(" "),
            let hour = rest.number(2), rest.take(":"), let minute = rest.number(2), rest.take(":"),
            let second = rest.number(2),
            (1...9999).contains(year), (1...12).contains(month),
            (1...Self.lengthOfMonth(month, in: year)).contains(day), hour < 24, minute < 60,
            second <= 60  // a leap second
        else { return nil }
        var nanoseconds = 0
        if rest.take(".") {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
            guard (1...9).contains(digits), var fraction = rest.number(digits) else { return nil }
            for _ in digits..<9 { fraction *= 10 }
            nanoseconds = fraction
        }
        guard let offset = rest.offset(), rest.isEmpty else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        let seconds = Int64(days * 86_400 + hour * 3600 + minute * 60 + second - offset)
        guard Self.writable.contains(seconds) else { return nil }
        self.init(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }
}

extension Timestamp: CustomStringConvertible {
    /// The moment in UTC, with as many digits of the fraction as needed.
    var description: String {
        let (days, time) = (Int(seconds) / 86_400, Int(seconds) % 86_400)
        let (day, second) = time < 0 ? (days - 1, time + 86_400) : (days, time)
        // The reverse of `days(year:month:day:)`, in eras of 400 years.
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = ((5 * dayOfYear + 2) / 153 + 2) % 12 + 1
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let dayOfMonth = dayOfYear - (153 * ((month + 9) % 12) + 2) / 5 + 1
        var fraction = nanoseconds == 0 ? "" : "." + Self.padded(Int(nanoseconds), 9)
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(dayOfMonth, 2))"
            + "T\(Self.padded(second / 3600, 2)):\(Self.padded(second / 60 % 60, 2)):\(Self.padded(second % 60, 2))"
            + "\(fraction)Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension ArraySlice<UInt8> {
    /// Takes this many digits.
    fileprivate mutating func number(_ count: Int) -> Int? {
        let digits = prefix(count)
        guard digits.count == count, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        removeFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    fileprivate mutating func take(_ character: Character) -> Bool {
        guard first == character.asciiValue else { return false }
        removeFirst()
        return true
    }

    /// Takes `Z` or `+01:30`: seconds ahead of UTC.
    fileprivate mutating func offset() -> Int? {
        if take("Z") || take("z") { return 0 }
        let sign: Int
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
