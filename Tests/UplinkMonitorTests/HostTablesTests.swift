// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkMonitor

@Suite(.timeLimit(.minutes(1)))
struct HostTablesTests {
    @Test func interfacesAreNamedBeforeTheColon() {
        let text = """
            Inter-|   Receive                                                |  Transmit
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
                lo:       0       0    0    0    0     0          0         0        0       0    0
              eth0: 1362     11    0    0    0     0          0         0     1192      14    0
            wg:0: 1 2 3
            nonsense
            """
        #expect(HostTables.interfaceNames(text) == ["lo", "eth0", "wg:0"])
    }

    @Test func routesOfIPv4AreRead() {
        let text = """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
            eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
            eth2\t00000000\t010200C0\t0003\t0\t0\t-1294967296\t00000000\t0\t0\t0
            *\t00000000\t00000000\t0201\t0\t0\t9999\t00000000\t0\t0\t0
            eth1\t00000000\t010200C0\t0002\t0\t0\t100\t00000000\t0\t0\t0
            eth0\tnonsense\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
            eth0\t00000000
            """
        let routes = HostTables.ipv4Routes(text)
        #expect(routes.map(\.destination) == ["0.0.0.0", "192.0.2.0", "0.0.0.0"].compactMap { IPAddress($0) })
        #expect(routes.map(\.gateway) == [IPAddress("192.0.2.1"), nil, IPAddress("192.0.2.1")])
        #expect(routes.map(\.prefixLength) == [0, 24, 0])
        #expect(routes.map(\.metric) == [100, 0, 3_000_000_000])
    }

    @Test func routesOfIPv6AreRead() {
        let zero = String(repeating: "0", count: 32)
        let gateway = "20010db8000100000000000000000001"
        let text = """
            \(zero) 00 \(zero) 00 \(gateway) 00000400 00000001 00000000 00000003     eth0
            20010db8000100000000000000000000 40 \(zero) 00 \(zero) 00000100 00000001 00000000 00000001     eth0
            \(zero) 00 \(zero) 00 \(zero) ffffffff 00000001 00000000 00200200       lo
            \(zero) 00 \(zero) 00 \(gateway) 00000400
            """
        let routes = HostTables.ipv6Routes(text)
        #expect(routes.map(\.prefixLength) == [0, 64])
        #expect(routes.first?.gateway == IPAddress("2001:db8:1::1"))
        #expect(routes.first?.metric == 1024)
        #expect(routes.first?.interface == "eth0")
        #expect(routes.map(\.sourceLength) == [0, 0])
    }

    @Test func addressesOfIPv6AreReadWithTheirFlags() {
        let text = """
            fe800000000000000000000000000001 28 40 20 80     eth0
            20010db8000100000000000000000010 28 40 00 40     eth0
            20010db80001000000000000000000 28 40 00 40     eth0
            """
        let addresses = HostTables.ipv6Addresses(text)
        #expect(addresses.map(\.address) == ["fe80::1", "2001:db8:1::10"].compactMap { IPAddress($0) })
        #expect(addresses.map(\.index) == [40, 40])
        #expect(addresses.map(\.isPending) == [false, true])
    }

    @Test(arguments: ["", "\n", "\n\n\n", "\t\t\t", "0 1 2 3 4 5 6 7 8 9 10", ":::::::"])
    func nonsenseIsLeftOut(text: String) {
        #expect(HostTables.ipv4Routes(text).isEmpty && HostTables.ipv6Routes(text).isEmpty)
        #expect(HostTables.ipv6Addresses(text).isEmpty)
    }
}
