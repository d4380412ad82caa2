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

    @Test func addressesOfIPv6StandWhereTheKernelPutsThem() throws {
        var table = InterfaceTable()
        for text in ["fe80::1", "192.0.2.10", "2001:db8::1", "2001:db8::2", "fe80::2", "192.0.2.11"] {
            table.update(try address(text))
        }
        #expect(
            table.addresses(of: 40).map(\.address)
                == ["2001:db8::2", "2001:db8::1", "fe80::2", "fe80::1", "192.0.2.10", "192.0.2.11"].map(IPAddress.init))
        var listed = InterfaceTable()
        for record in table.addresses(of: 40) { listed.append(record) }
        #expect(listed == table)
    }

    @Test func theSameAddressWithAnotherPrefixIsAnother() throws {
        var table = InterfaceTable()
        table.update(try address("192.0.2.10"))
        table.update(try address("192.0.2.10", prefixLength: 32))
        table.remove(try address("192.0.2.10"))
        #expect(table.addresses(of: 40).map(\.prefixLength) == [32])
    }

    @Test func theSameAddressWithAnotherPeerIsAnother() throws {
        var table = InterfaceTable()
        let peers = [try #require(IPAddress("192.0.2.20")), try #require(IPAddress("192.0.2.30"))]
        for peer in peers { table.update(try address("192.0.2.10", prefixLength: 32, peer: peer)) }
        table.remove(try address("192.0.2.10", prefixLength: 32, peer: peers[1]))
        #expect(table.addresses(of: 40).map(\.peer) == [peers[0]])
    }

    @Test func anAddressThatTwoLinksHaveIsThatOfTheLinkInQuestion() throws {
        var table = InterfaceTable()
        for index in [9, 3, 40] as [UInt32] {
            var entry = try address("192.0.2.10", prefixLength: UInt8(index - 2))
            entry.index = index
            table.update(entry)
        }
        let shared = try #require(IPAddress("192.0.2.10"))
        #expect(table.record(of: shared, on: 9)?.prefixLength == 7)
        #expect(table.record(of: shared, on: 1)?.index == 3)
        #expect(table.record(of: shared, on: nil)?.index == 3)
    }

    @Test func aSocketThatIsBoundToAVRFSeesTheLinksInIt() throws {
        var table = InterfaceTable()
        var (vrf, inside) = (eth0, eth0)
        (vrf.index, vrf.name, vrf.kind) = (7, "blue", "vrf")
        (inside.index, inside.master) = (8, 7)
        for link in [eth0, vrf, inside] { table.update(link) }
        #expect(Set(table.restricted(to: 7).links.keys) == [7, 8])
        #expect(Set(table.restricted(to: 8).links.keys) == [8])
        #expect(Set(table.restricted(to: 40, and: [8]).links.keys) == [8, 40])
        #expect(table.restricted(to: 41, and: [8]).links.isEmpty)
    }

    @Test func onlyOperationalLinksCount() {
        var table = InterfaceTable()
        table.update(eth0)
        table.update(LinkRecord(index: 1, name: "lo", flags: [.up, .running, .lowerUp, .loopback], hardwareType: 772))
        table.update(LinkRecord(index: 2, name: "eth1", flags: [.up, .lowerUp], hardwareType: 1))
        #expect(table.operationalLinks.map(\.name) == ["eth0"])
    }

    private func address(
        _ text: String, prefixLength: UInt8 = 24, flags: AddressRecord.Flags = [], peer: IPAddress? = nil
    ) throws -> AddressRecord {
        AddressRecord(
            index: 40, address: try #require(IPAddress(text)), prefixLength: prefixLength, flags: flags, peer: peer)
    }
}
