// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct HTTPDateTests {
    private let now: Int64 = 1_767_225_600  // 2026

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func allThreeFormsAreRead(_ text: String) { #expect(HTTPDate.seconds(of: text, now: now) == 784_111_777) }

    @Test(
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Wed Nov 16 08:49:37 1994", 784_975_777),
        ] as [(String, Int64)])
    func datesAreCounted(_ text: String, _ seconds: Int64) { #expect(HTTPDate.seconds(of: text, now: now) == seconds) }

    @Test func twoDigitsMeanAYearThatIsNotFarAhead() {
        #expect(HTTPDate.seconds(of: "Saturday, 01-Jan-76 00:00:00 GMT", now: now) == 3_345_062_400)  // 2076
        #expect(HTTPDate.seconds(of: "Saturday, 01-Jan-77 00:00:00 GMT", now: now) == 220_924_800)  // 1977
        let endOf1999: Int64 = 946_684_799
        #expect(HTTPDate.seconds(of: "Saturday, 01-Jan-00 00:00:00 GMT", now: endOf1999) == 946_684_800)  // 2000
        #expect(HTTPDate.seconds(of: "Saturday, 01-Jan-50 00:00:00 GMT", now: endOf1999) == -631_152_000)  // 1950
    }

    @Test(arguments: [
        "", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2100 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov +994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        "Sat, 01 Jan 0000 00:00:00 GMT", "Sun Nov  16 08:49:37 1994", "Sun,  06 Nov 1994 08:49:37", "٠٦ Nov 1994",
    ])
    func anythingElseIsNoDate(_ text: String) { #expect(HTTPDate.seconds(of: text, now: now) == nil) }

    private func pause(_ value: String..., date: String? = nil) -> Duration? {
        var fields = HTTPFields()
        for value in value { fields.append(HTTPField(name: .retryAfter, value: value)) }
        fields[.date] = date
        return RetryAfter.pause(askedBy: HTTPResponse(status: .serviceUnavailable, headerFields: fields)) { now }
    }

    @Test func retryAfterIsSecondsOrADate() {
        #expect(pause("0") == .zero)
        #expect(pause("120") == .seconds(120))
        #expect(pause("99999999999999999999") == .seconds(Int64.max))
        #expect(pause("Thu, 01 Jan 2026 00:01:30 GMT") == .seconds(90))
        #expect(pause("Thu, 01 Jan 2026 00:01:30 GMT", date: "Thu, 01 Jan 2026 00:01:20 GMT") == .seconds(10))
        #expect(pause("Wed, 31 Dec 2025 00:00:00 GMT") == .zero)
        for nonsense in ["-1", "1.5", "+3", "soon", "1 2"] { #expect(pause(nonsense) == nil, "\(nonsense)") }
        #expect(pause() == nil)
        #expect(pause("1", "2") == nil)
    }

    /// RFC 9110, section 8.8.2.2; a year of two digits is near the answer's.
    @Test(arguments: [
        ("Thu, 26 Nov 2026 10:00:00 GMT", true), ("Thu, 26 Nov 2026 10:00:30 GMT", false),
        ("Thursday, 26-Nov-26 10:00:00 GMT", true), ("Thursday, 26-Nov-26 10:01:00 GMT", false),
        ("Thu Nov 26 10:00:01 2026", false), ("yesterday", false),
    ])
    func aDateIsAStrongValidatorIfItIsAMinuteOlder(date: String, isStrong: Bool) {
        let fields: HTTPFields = [.date: "Thu, 26 Nov 2026 10:01:00 GMT", .lastModified: date]
        #expect(LastModified.strong(in: fields) == (isStrong ? date : nil))
        #expect(LastModified.strong(in: [.lastModified: date]) == nil)
    }
}
