// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@Suite(.timeLimit(.minutes(1)))
struct IPAddressTests {
    @Test(arguments: ["192.0.2.1", "0.0.0.0", "255.255.255.255", "::", "::1", "2001:db8::1", "fe80::abcd:0:1"])
    func textRoundTrips(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == text)
        #expect(IPAddress(bytes: address.bytes) == address)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "::g", "fe80::1%eth0", "localhost", "1.2.3.4 ", "1.2.3.4\0.evil",
    ])
    func whatIsNoAddressIsNil(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: [0, 3, 5, 15, 17])
    func bytesOfAnotherCountAreNil(_ count: Int) {
        #expect(IPAddress(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func classesAreTold() throws {
        func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }
        #expect(try address("127.9.9.9").isLoopback && !address("128.0.0.1").isLoopback)
        #expect(try address("::1").isLoopback && !address("::2").isLoopback)
        #expect(try address("169.254.1.1").isLinkLocal && !address("169.253.1.1").isLinkLocal)
        #expect(try address("fe80::1").isLinkLocal && address("febf::1").isLinkLocal)
        #expect(try !address("fec0::1").isLinkLocal)
        #expect(try address("0.0.0.0").isUnspecified && address("::").isUnspecified)
    }
}
