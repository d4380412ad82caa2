// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct ContentRangeTests {
    @Test func rangesAreReadStrictly() {
        #expect(ContentRange("bytes 0-0/1") == .part(first: 0, last: 0, total: 1))
        #expect(ContentRange("Bytes 5-9/*") == .part(first: 5, last: 9, total: nil))
        #expect(ContentRange("bytes */77") == .unsatisfied(total: 77))
        #expect(
            ContentRange("bytes 5000000000-9999999999/10000000000")
                == .part(first: 5_000_000_000, last: 9_999_999_999, total: 10_000_000_000))
        #expect(ContentRange("bytes */10000000000") == .unsatisfied(total: 10_000_000_000))
        #expect(
            ContentRange("bytes 0-9223372036854775806/9223372036854775807")
                == .part(first: 0, last: .max - 1, total: .max))
        for text in [
            "", "bytes", "bytes 0-0", "bytes 0-0/", "bytes 1-0/9", "bytes 0-9/9", "bytes -1-0/9", "bytes */*",
            "bytes +1-2/9", "bytes 0-99999999999999999999/*", "bytes 0-9223372036854775807/*", "bytes  0-0/1",
            "bytes 0-0/1 ", "bytes=0-0/1", "bytes 0-0/1,2-2/3", "bytes 0-٣/9",
        ] {
            #expect(ContentRange(text) == nil, "\(text)")
        }
    }
}
