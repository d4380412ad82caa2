// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkHTTP

/// Percent signs in URLs.
struct PercentEncodingTests {
    @Test func whatIsNotKeptIsWrittenInDigits() {
        #expect(PercentEncoding.encode("a b\n/é".utf8) { $0.isAlphanumeric } == "a%20b%0A%2F%C3%A9")
    }

    @Test func whatIsEncodedComesBack() {
        let bytes = Array(UInt8.min...UInt8.max)
        #expect(PercentEncoding.decode(PercentEncoding.encode(bytes) { $0 == UInt8(ascii: "a") }) == bytes)
        #expect(PercentEncoding.decode("%c3%A9x") == Array("éx".utf8))
    }

    @Test(arguments: ["%", "%4", "a%", "%zz", "%4z", "%+1", "%-1", "% 1"])
    func aPercentSignWithoutTwoDigitsIsAnError(text: String) {
        #expect(PercentEncoding.decode(text) == nil)
    }
}
