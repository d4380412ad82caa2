// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import UplinkCurl

/// What is asked of libcurl's version, and what the library itself says that it is.
@Suite(.timeLimit(.minutes(1)))
struct LibraryVersionTests {
    /// The numbers in `libcurl/7.88.1 OpenSSL/…`, as the process has the library.
    private func numbers() throws -> [UInt32] {
        typealias Function = @convention(c) () -> UnsafePointer<CChar>?
        let symbol = try #require(dlsym(nil, "curl_version"))
        let text = try #require(unsafeBitCast(symbol, to: Function.self)())
        let name = try #require(String(cString: text).split(separator: " ").first)
        let version = try #require(name.split(separator: "/").last)
        return version.split(separator: ".").compactMap { UInt32($0.prefix { $0.isNumber }) }
    }

    @Test func theGatesAreThoseOfTheVersionThatRuns() throws {
        let told = try numbers()
        try #require(told.count == 3)
        let (major, minor, patch) = (told[0], told[1], told[2])
        let number = major * 0x10000 + minor * 0x100 + patch
        #expect(LibCurl.version == number)
        let isRecentEnough = major > 7 || (major == 7 && minor >= 87)
        #expect(LibCurl.isRecentEnough == isRecentEnough)
        let needsConnectNudge = major < 8 || (major == 8 && minor < 4)
        #expect(LibCurl.needsConnectNudge == needsConnectNudge)
    }
}
