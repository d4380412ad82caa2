// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

/// Which names the kernel would accept: seen with `ip link add` for each of them.
@Suite(.timeLimit(.minutes(1)))
struct NetworkInterfaceTests {
    @Test(arguments: ["e", "eth0", "fifteen-letters", "eth0!", "...", "büro", "\u{1}"])
    func namesOfInterfaces(_ name: String) { #expect(NetworkInterface.canBeNamed(name)) }

    @Test(arguments: ["", ".", "..", "sixteen-letters-", "a/b", "eth0:1", "a b", "a\tb", "a\u{b}b", "chalà", "a\0b"])
    func whatNoInterfaceIsCalled(_ name: String) { #expect(!NetworkInterface.canBeNamed(name)) }
}
