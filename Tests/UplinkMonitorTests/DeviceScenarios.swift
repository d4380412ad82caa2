// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

/// Links of all kinds, as they are made, moved, renamed and deleted.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct DeviceScenarios {
    @Test(arguments: FrontEnd.allCases) func aMACVLANLosesTheCarrierOfItsLink(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd, from: .connected,
            setUp: { network in
                try network.device.batch([
                    "link add mv0 link eth0 type macvlan mode bridge", "link set mv0 up",
                    "addr add 192.0.2.10/24 dev mv0",
                    "route add default via 192.0.2.1",
                ])
            }
        ) { scenario in
            try await scenario.reach { $0.isSatisfied && $0.ipv4.interface == "mv0" }
            try scenario.network.cableOut()
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .linkDown)
            try scenario.network.cableIn()
            try await scenario.path { $0.isSatisfied }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aBridgeIsAsGoodAsItsPorts(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .connected) { scenario in
            try scenario.host.batch([
                "link add br0 type bridge", "link set eth0 master br0", "link set br0 up",
                "addr add 192.0.2.10/24 dev br0", "route add default via 192.0.2.1",
            ])
            let path = try await scenario.path { $0.isSatisfied }
            #expect(path.primaryInterface?.name == "br0")
            #expect(path.primaryInterface?.kind == .bridge)
            try scenario.network.cableOut()
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .linkDown)
            try scenario.network.cableIn()
            try await scenario.path { $0.isSatisfied }
            try scenario.host.ip("link set eth0 nomaster")  // told as RTM_DELLINK of AF_BRIDGE, with eth0's index
            try await scenario.path { !$0.isSatisfied }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aPointToPointLinksOwnAddressIsTold(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd) { scenario in
            let tunnel = try await Tunnel(named: "ppp7", on: scenario.loop)
            defer { tunnel.close() }
            try scenario.host.batch([
                "addr add 10.64.0.2 peer 10.64.0.1 dev ppp7", "link set ppp7 up", "route add default dev ppp7",
            ])
            let path = try await scenario.path { $0.isSatisfied }
            #expect(path.ipv4.source == IPAddress("10.64.0.2"))
            #expect(path.primaryInterface?.addresses.first == IPAddress("10.64.0.2"))
            #expect(path.primaryInterface?.kind == .tunnel)
        }
    }

    @Test(arguments: FrontEnd.allCases) func aLinkThatMovesToAnotherNamespaceIsGone(on frontEnd: FrontEnd) async throws
    {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.ip("link set eth0 netns \(scenario.router.name)")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .noInterface)
            try scenario.router.ip("link set eth0 netns \(scenario.host.name)")  // down and without addresses
            try scenario.host.ip("link set eth0 up")
            let back = try await scenario.path { $0.unsatisfiedReason == .noAddress }
            #expect(back.scope <= .link)
            try scenario.network.goOnline()
            try await scenario.path { $0.isSatisfied }
        }
    }

    @Test(arguments: FrontEnd.allCases) func whatIsNotThePathChangesNothing(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try await scenario.expectNoUpdates {
                try scenario.host.batch([
                    "link property add dev eth0 altname internet", "link set eth0 alias uplink",
                    "link set eth0 mtu 1400",
                    "link set eth0 txqueuelen 500", "link set eth0 address 02:00:00:00:00:07",
                    "link set eth0 promisc on",
                    "neigh replace 192.0.2.77 lladdr 02:00:00:00:00:77 dev eth0", "neigh flush dev eth0",
                    "maddr add 33:33:00:00:00:07 dev eth0", "netconf", "tcp_metrics flush",
                ])
            }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aNameIsNoKind(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4, configuration: .prompt) { scenario in
            try scenario.host.ip("link set eth0 name tun7")
            let path = try await scenario.handover { $0.ipv4.interface == "tun7" }
            #expect(path.primaryInterface?.kind == .ethernet)
        }
    }

    @Test(arguments: FrontEnd.allCases) func namesMayBeSwapped(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd, from: .ipv4, configuration: .prompt, setUp: { try $0.connectSecondUplink() }
        ) { scenario in
            try scenario.host.batch([
                "link set eth0 name swap", "link set eth1 name eth0", "link set swap name eth1",
            ])
            let path = try await scenario.handover { $0.ipv4.interface == "eth1" }
            #expect(path.ipv4.interfaceIndex == 40)
            #expect(path.ipv4.source == IPAddress("192.0.2.10"))
        }
    }

    @Test(arguments: FrontEnd.allCases) func twoHundredLinksThatComeAndGoChangeNothing(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(on: frontEnd) { scenario in
            try scenario.host.batch(
                (0..<200).map { "link add v\($0) index \(1000 + $0) type veth peer name w\($0) index \(2000 + $0)" })
            try scenario.network.connect()
            try scenario.network.addIPv4()
            let path = try await scenario.path { $0.isSatisfied }
            #expect(path.interfaces.map(\.name) == ["eth0"])
            #expect(await scenario.observer.count <= 6)  // no interface, no address, link-local, site; online
            try await scenario.expectNoUpdates {
                try scenario.host.batch((0..<200).map { "link del v\($0)" })
            }
        }
    }

    @Test(arguments: FrontEnd.allCases) func anIndexThatComesBackAtOnceIsAnotherLink(on frontEnd: FrontEnd) async throws
    {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.batch([
                "link del eth0", "link add eth0 index 40 type veth peer name r9 index 59 netns \(scenario.router.name)",
                "link set eth0 up",
            ])
            try scenario.router.ip("link set r9 up")
            let path = try await scenario.path { !$0.isSatisfied && $0.unsatisfiedReason != .noInterface }
            #expect(path.unsatisfiedReason == .noAddress)  // the same name and index, but not the same address
        }
    }

    @Test(arguments: FrontEnd.allCases) func aLinkThatIsOffStaysOffWhateverItsCable(on frontEnd: FrontEnd) async throws
    {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.ip("link set eth0 down")
            try await scenario.path { !$0.isSatisfied }
            try scenario.network.cableOut()
            try scenario.network.cableIn()
            try scenario.host.ip("link set eth0 up")
            let (_, passed, _) = try await scenario.observer.first { $0.unsatisfiedReason == .noRoute }
            #expect(!passed.contains { $0.isSatisfied })
        }
    }

    @Test(arguments: FrontEnd.allCases, ["a\"b\\c", "straße", "{}[]'"])
    func namesMayHoldWhatTheKernelPermits(on frontEnd: FrontEnd, name: String) async throws {
        try await withScenario(on: frontEnd, from: .ipv4, configuration: .prompt) { scenario in
            try scenario.host.ip("link set eth0 name \(name)")
            let path = try await scenario.handover { $0.ipv4.interface == name }
            #expect(path.primaryInterface?.name == name)
        }
    }

    @Test(arguments: FrontEnd.allCases) func theLoopbackDoesNotMatterToThePath(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try await scenario.expectNoUpdates {
                try scenario.host.batch(["link set lo down", "link set lo up", "addr add 127.9.9.9/8 dev lo"])
            }
        }
    }

    @Test(arguments: FrontEnd.allCases) func addressesThatStayOnALinkThatIsOffAreNoNetwork(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(
            on: frontEnd, from: .connected,
            setUp: { network in
                try network.device.set("ipv6/conf/all/keep_addr_on_down", to: 1)
                try network.device.set("ipv6/conf/eth0/keep_addr_on_down", to: 1)
                try network.addIPv6()
            }
        ) { scenario in
            try scenario.host.ip("link set eth0 down")
            try await scenario.path { !$0.isSatisfied }
            try scenario.host.ip("link set eth0 up")
            try scenario.network.goOnline()
            try scenario.network.addIPv6()
            try await scenario.path { $0.ipv6.isAvailable }
        }
    }
}
