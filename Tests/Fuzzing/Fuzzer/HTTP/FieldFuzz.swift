// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import UplinkHTTP

/// Text that claims to be the value of a field: what is understood is in its range, and is understood as the same when
/// it is written anew.
///
/// The first byte: `d` a date, `a` `Retry-After`, `r` `Content-Range`, `p` `Content-Disposition`, `n` a name for it,
/// `k` `Content-Type`.
enum FieldFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        guard let (letter, rest) = kind(of: bytes) else { return }
        let text = String(decoding: rest, as: UTF8.self)
        switch letter {
        case "d": try date(text)
        case "a": try retryAfter(text)
        case "r": try range(text)
        case "p": if let name = ContentDisposition.fileName(in: text) { try disposition(of: name) }
        case "n": try disposition(of: text)
        case "k": _ = ContentKind(text)
        default: return
        }
    }

    private static func date(_ text: String) throws(Fault) {
        // 1970, 1999, 2026, 2077 and the last second that is written.
        for now in [0, 946_684_799, 1_767_225_600, 3_376_684_800, 253_402_300_799] as [Int64] {
            guard let seconds = HTTPDate.seconds(of: text, now: now) else { continue }
            let (date, today) = (calendar(seconds), calendar(now))
            let again = HTTPDate.seconds(of: written(date), now: 0)
            // 24:00 of the last year's end, by a leap second, is in a year that is not written.
            try expect(again == seconds || date.tm_year >= 8100, "\(seconds) is written and read as \(again ?? -1)")
            if text.count(where: { $0 == " " }) == 3 {
                let ahead = date.tm_year - today.tm_year
                try expect((-50...51).contains(ahead), "two digits that are \(ahead) years ahead, at \(now)")
            }
        }
    }

    /// The C library's opinion.
    private static func calendar(_ seconds: Int64) -> tm {
        var (time, parts) = (time_t(seconds), tm())
        gmtime_r(&time, &parts)
        return parts
    }

    /// In the one form that is sent.
    private static func written(_ date: tm) -> String {
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let year = padded(1900 + date.tm_year, 4)
        let time = [date.tm_hour, date.tm_min, date.tm_sec].map { padded($0, 2) }.joined(separator: ":")
        let day = "\(days[Int(date.tm_wday)]), \(padded(date.tm_mday, 2)) \(months[Int(date.tm_mon)])"
        return "\(day) \(year) \(time) GMT"
    }

    private static func padded(_ number: CInt, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func retryAfter(_ text: String) throws(Fault) {
        var head = HTTPResponse(status: .serviceUnavailable)
        for (place, value) in text.split(separator: "\n", maxSplits: 2).enumerated() {
            head.headerFields.append(HTTPField(name: place == 0 ? .retryAfter : .date, value: String(value)))
        }
        guard let pause = RetryAfter.pause(askedBy: head, now: { 1_767_225_600 }) else { return }
        let value = head.headerFields[.retryAfter] ?? ""
        try expect(pause >= .zero, "a pause into the past")
        try expect(Int64(value).map { pause == .seconds($0) } ?? true, "\(value) seconds are \(pause)")
    }

    private static func range(_ text: String) throws(Fault) {
        guard let range = ContentRange(text) else { return }
        let again: String
        switch range {
        case .part(let first, let last, let total):
            try expect(0 <= first && first <= last && last < .max, "the ends of \(text)")
            try expect(total.map { last < $0 } ?? true, "\(text) ends beyond the file")
            again = "bytes \(first)-\(last)/\(total.map(String.init) ?? "*")"
        case .unsatisfied(let total):
            try expect(total >= 0, "a file of \(total) bytes")
            again = "bytes */\(total)"
        }
        try expect(ContentRange(again) == range, "\(text) is written and read as something else")
    }

    private static func disposition(of name: String) throws(Fault) {
        let field = ContentDisposition.attachment(named: name)
        try expect(field.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a field that is not printable: \(field)")
        let again = ContentDisposition.fileName(in: field)
        try expect(again.map { Array($0.utf8) } == Array(name.utf8), "\(name) is written and read as \(again ?? "nil")")
    }
}
