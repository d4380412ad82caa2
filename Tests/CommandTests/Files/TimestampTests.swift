// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

@Suite(.timeLimit(.minutes(1)))
struct TimestampTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0, 0), ("2024-02-29T12:30:45Z", 1_709_209_845, 0),
        ("2024-02-29T12:30:45.12345678Z", 1_709_209_845, 123_456_780),
        ("2024-02-29T12:30:45.123456789Z", 1_709_209_845, 123_456_789),
        ("2024-02-29T12:30:45.5Z", 1_709_209_845, 500_000_000), ("1969-12-31T23:59:59.25Z", -1, 250_000_000),
        ("2000-03-01T00:00:00+00:00", 951_868_800, 0), ("2024-02-29T14:30:45+02:00", 1_709_209_845, 0),
        ("2016-12-31T23:59:60Z", 1_483_228_800, 0), ("2024-02-29t12:30:45z", 1_709_209_845, 0),
    ])
    func isReadWithAnyFraction(text: String, seconds: Int64, nanoseconds: Int32) {
        #expect(Timestamp(text) == Timestamp(seconds: seconds, nanoseconds: nanoseconds))
    }

    @Test(arguments: [
        "", "2024", "2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-01T24:00:00Z",
        "2024-01-01T00:00:00", "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00.1234567890Z", "2024-01-01T00:00:00Zx",
        "2024-01-01T00:00:00+1:00", "24-01-01T00:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:0٣Z",
        "+024-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00", "9999-12-31T23:59:60Z", "0001-01-01T00:00:00+01:00",
    ])
    func whatIsNoDateIsNone(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test func writingAndReadingGiveTheSame() {
        for seconds in stride(from: Int64(-62_135_596_800), to: 253_402_300_799, by: 9_999_999_937) {
            for nanoseconds: Int32 in [0, 1, 120_000_000, 999_999_999] {
                let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
                #expect(Timestamp(time.description) == time, "\(time)")
            }
        }
        #expect(Timestamp(seconds: 1_709_209_845, nanoseconds: 120_000_000).description == "2024-02-29T12:30:45.12Z")
    }

    @Test func whatNoDateCanHaveIsClamped() {
        for (seconds, clamped) in [(1.9, 1), (-0.5, -1), (1e300, .max), (-1e300, .min), (.infinity, .max)]
            as [(Double, Int64)]
        {
            #expect(Timestamp(wholeSeconds: seconds).seconds == clamped)
        }
        _ = Timestamp(wholeSeconds: .nan).description
        #expect(!Timestamp(wholeSeconds: 1e300).description.isEmpty)
    }
}
