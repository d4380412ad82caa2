// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkMonitor

@Suite(.timeLimit(.minutes(1)))
struct InterfaceTableTests {
    private let eth0 = LinkRecord(index: 40, name: "eth0", flags: [.up, .running, .lowerUp], hardwareType: 1)

    @Test func addressesGoWithTheirLink() throws {
        var table = InterfaceTable()
        table.update(eth0)
        table.update(try address("192.0.2.10"))
        table.removeLink(40)
        table.update(eth0)  // another link with the same index
        #expect(table.addresses(of: 40).isEmpty)
    }

    @Test func anAddressThatIsToldAgainIsKnown() throws {
        var table = InterfaceTable()
        table.update(try address("192.0.2.10"))
        table.update(try address("192.0.2.11"))
        let before = table
        table.update(try address("192.0.2.10"))
        #expect(table == before)
        table.update(try address("192.0.2.10", flags: .deprecated))
        #expect(table.addresses(of: 40).map(\.flags) == [.deprecated, []])
    }

    @Test func theSameAddressWithAnotherPrefixIsAnother() throws {
        var table = InterfaceTable()
        table.update(try address("192.0.2.10"))
        table.update(try address("192.0.2.10", prefixLength: 32))
        table.remove(try address("192.0.2.10"))
        #expect(table.addresses(of: 40).map(\.prefixLength) == [32])
    }

    @Test func onlyOperationalLinksCount() {
        var table = InterfaceTable()
        table.update(eth0)
        table.update(LinkRecord(index: 1, name: "lo", flags: [.up, .running, .lowerUp, .loopback], hardwareType: 772))
        table.update(LinkRecord(index: 2, name: "eth1", flags: [.up, .lowerUp], hardwareType: 1))
        #expect(table.operationalLinks.map(\.name) == ["eth0"])
    }

    private func address(
        _ text: String, prefixLength: UInt8 = 24, flags: AddressRecord.Flags = []
    ) throws -> AddressRecord {
        AddressRecord(index: 40, address: try #require(IPAddress(text)), prefixLength: prefixLength, flags: flags)
    }
}
