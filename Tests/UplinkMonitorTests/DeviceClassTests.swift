// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkMonitor

@Suite(.timeLimit(.minutes(1)))
struct DeviceClassTests {
    @Test(
        arguments: [
            (nil, 1, .ethernet), ("veth", 1, .ethernet), ("vlan", 1, .ethernet), ("bond", 1, .ethernet),
            ("bridge", 1, .bridge), ("tun", 0xFFFE, .tunnel), ("tun", 1, .ethernet), ("wireguard", 0xFFFE, .tunnel),
            ("ppp", 512, .tunnel), ("vxlan", 1, .tunnel), (nil, 512, .tunnel), (nil, 768, .tunnel),
            ("wwan", 519, .cellular),
            (nil, 519, .cellular),
            (nil, 801, .wifi), (nil, 32, .other),
        ] as [(String?, UInt16, NetworkInterface.Kind)])
    func theKindComesFromTheDriverAndTheHardware(driver: String?, hardware: UInt16, expected: NetworkInterface.Kind) {
        #expect(DeviceClass(link(driver, hardware)).kind == expected)
    }

    @Test func namesAreNoEvidence() {
        var link = link(nil, 1)
        for name in ["tunafish", "wg0", "wlan0", "ppp0"] {
            link.name = name
            #expect(DeviceClass(link).kind == .ethernet)
        }
    }

    @Test func theDeviceTypeTellsRadiosFromCables() {
        #expect(DeviceClass(link(nil, 1), .init(type: "wlan")).kind == .wifi)
        #expect(DeviceClass(link(nil, 0xFFFE), .init(type: "wwan")).kind == .cellular)
        #expect(DeviceClass(link(nil, 0xFFFE), .init(type: "wwan")).isMetered)
        #expect(DeviceClass(link(nil, 1), .init(type: "bluetooth")).isMetered)
        #expect(DeviceClass(link("rmnet", 519)).isMetered)
        #expect(!DeviceClass(link(nil, 1)).isMetered)
    }

    @Test func aPhoneOnACableIsMeteredAndAnAdapterIsNot() {
        for driver in ["rndis_host", "ipheth"] {
            #expect(DeviceClass(link(nil, 1), .init(driver: driver)).isMetered)
        }
        for driver in ["cdc_ether", "cdc_ncm", "cdc_eem"] {
            var link = link(nil, 1)
            #expect(!DeviceClass(link, .init(driver: driver)).isMetered)
            link.isLocallyAdministered = true
            #expect(DeviceClass(link, .init(driver: driver)).isMetered)
            #expect(DeviceClass(link, .init(driver: driver)).kind == .ethernet)
        }
        var virtual = link("veth", 1)
        virtual.isLocallyAdministered = true
        #expect(!DeviceClass(virtual, .init(driver: "r8169")).isMetered)
    }

    @Test func aPointToPointLinkIsATunnel() {
        var link = link(nil, 1)
        link.flags.insert(.pointToPoint)
        #expect(DeviceClass(link).kind == .tunnel)
    }

    @Test func theLoopbackIsTheLoopback() {
        var link = link(nil, 772)
        link.flags.insert(.loopback)
        #expect(DeviceClass(link).kind == .loopback)
    }

    @Test func anotherNamespacesDeviceIsNoEvidence() {
        let text = "DEVTYPE=wlan\nINTERFACE=wlan0\nIFINDEX=3\n"
        #expect(DeviceTypes.parse(text, index: 3) == "wlan")
        #expect(DeviceTypes.parse(text, index: 4) == nil)
        #expect(DeviceTypes.parse("INTERFACE=eth0\nIFINDEX=3\n", index: 3)?.isEmpty == true)
        #expect(DeviceTypes.parse("", index: 3) == nil)
    }

    private func link(_ driver: String?, _ hardware: UInt16) -> LinkRecord {
        LinkRecord(index: 3, name: "x", flags: [.up, .running, .lowerUp], hardwareType: hardware, kind: driver)
    }
}
