// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkMonitor
import UplinkTesting

/// What the monitor says as routes, rules and virtual links come and go, in a real kernel.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct RouteScenarios {
    @Test(arguments: FrontEnd.allCases) func theDefaultRouteGoesAndComesBack(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.ip("route del default")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .noRoute)
            #expect(lost.scope == .site)
            try scenario.host.ip("route add default via 192.0.2.1")
            try await scenario.path { $0.isSatisfied }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aReplacedGatewayIsAHandover(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4, configuration: .prompt) { scenario in
            try scenario.host.ip("route replace default via 192.0.2.2")
            try await scenario.handover { $0.ipv4.gateway == IPAddress("192.0.2.2") }
        }
    }

    @Test(arguments: FrontEnd.allCases) func twoUplinksHandOverWithTheCarrier(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, configuration: .prompt, setUp: Self.twoUplinks(ignoringDeadLinks: true)) {
            scenario in
            let first = try #require(await scenario.observer.latest)
            #expect(first.interfaces.map(\.name) == ["eth0", "eth1"])
            try scenario.router.ip("link set r0 down")
            let second = try await scenario.handover { $0.ipv4.interface == "eth1" }
            #expect(second.interfaces.map(\.name) == ["eth1"])
            try scenario.router.ip("link set r0 up")
            try await scenario.handover { $0.ipv4.interface == "eth0" }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aDeadUplinkThatTheKernelInsistsOnIsNoNetwork(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(on: frontEnd, configuration: .prompt, setUp: Self.twoUplinks(ignoringDeadLinks: false)) {
            scenario in
            try scenario.router.ip("link set r0 down")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .linkDown)
            #expect(lost.ipv4.interface == "eth0")
            try scenario.host.set("ipv4/conf/all/ignore_routes_with_linkdown", to: 1)  // told by netconf messages alone
            let found = try await scenario.path { $0.isSatisfied }
            #expect(found.ipv4.interface == "eth1")
        }
    }

    @Test(arguments: FrontEnd.allCases, ["blackhole", "unreachable", "prohibit"])
    func aForbiddenWayIsBlocked(on frontEnd: FrontEnd, kind: String) async throws {
        try await withScenario(on: frontEnd) { scenario in
            try scenario.network.connect()
            try scenario.host.ip("addr add 192.0.2.10/24 dev eth0")
            try scenario.host.ip("route add \(kind) default metric 9999")
            try await scenario.path { $0.unsatisfiedReason == .blocked }
            try scenario.host.ip("route add default via 192.0.2.1")
            try await scenario.path { $0.isSatisfied }
            try scenario.host.ip("route del default via 192.0.2.1")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .blocked)
            try scenario.host.ip("route del \(kind) default metric 9999")
            try await scenario.path { $0.unsatisfiedReason == .noRoute }
            try scenario.host.ip("-6 addr add 2001:db8:1::10/64 dev eth0 nodad")
            try scenario.host.ip("-6 route add \(kind) default")
            let path = try await scenario.path { $0.unsatisfiedReason == .blocked }
            #expect(path.ipv6.unsatisfiedReason == .blocked)
        }
    }

    @Test(arguments: FrontEnd.allCases) func aTunnelWithHalfRoutesTakesOverAndGivesBack(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(on: frontEnd, from: .ipv4, configuration: .prompt) { scenario in
            for _ in 0..<30 {  // its interface is down for a moment before its routes are gone
                let tunnel = try await Tunnel(named: "tun0", on: scenario.loop)
                try scenario.host.batch([
                    "addr add 10.8.0.2/24 dev tun0", "link set tun0 up", "route add 192.0.2.99/32 via 192.0.2.1",
                    "route add 0.0.0.0/1 dev tun0", "route add 128.0.0.0/1 dev tun0",
                ])
                let path = try await scenario.handover {
                    $0.ipv4.interface == "tun0" && $0.primaryInterface?.name == "tun0"
                }
                #expect(path.primaryInterface?.kind == .tunnel)
                #expect(path.ipv4.gateway == nil)
                #expect(path.ipv4.source == IPAddress("10.8.0.2"))
                tunnel.close()
                try await scenario.handover { $0.ipv4.interface == "eth0" }
                try scenario.host.ip("route del 192.0.2.99/32 via 192.0.2.1")
            }
        }
    }

    @Test(arguments: FrontEnd.allCases) func halfOfTheInternetIsNoNetwork(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd) { scenario in
            try scenario.network.connect()
            try scenario.host.ip("addr add 192.0.2.10/24 dev eth0")
            try scenario.host.ip("route add 0.0.0.0/1 via 192.0.2.1")
            try await scenario.path { $0.unsatisfiedReason == .noRoute }
            try scenario.host.ip("route add 128.0.0.0/1 via 192.0.2.1")
            let (_, passed, _) = try await scenario.observer.first { $0.isSatisfied }
            #expect(!passed.contains { $0.isSatisfied })
        }
    }

    @Test(arguments: FrontEnd.allCases) func aPolicyRuleMovesThePathToItsTable(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd, from: .ipv4, configuration: .prompt,
            setUp: { network in
                try network.connectSecondUplink()
                try network.device.ip("route add default via 198.51.100.1 table 51820")
            }
        ) { scenario in
            try scenario.host.ip("rule add not fwmark 51820 table 51820")
            let path = try await scenario.handover { $0.ipv4.interface == "eth1" }
            #expect(path.ipv4.table == 51820)
            #expect(path.ipv4.source == IPAddress("198.51.100.10"))
            try scenario.host.ip("rule add table main suppress_prefixlength 0")
            try scenario.host.ip("rule del not fwmark 51820 table 51820")
            try await scenario.handover { $0.ipv4.interface == "eth0" }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aRuleThatProhibitsBlocksIPv6Too(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv6) { scenario in
            #expect(await scenario.observer.latest?.ipv6.isAvailable == true)
            try scenario.host.ip("-6 rule add prohibit")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .blocked)
            try scenario.host.ip("-6 rule del prohibit")
            try await scenario.path { $0.isSatisfied }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aNextHopObjectThatGoesTakesItsRoutesWithIt(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(
            on: frontEnd,
            setUp: { network in
                try network.silenceIPv6()
                try network.connect()
                try network.device.ip("addr add 192.0.2.10/24 dev eth0")
                try network.device.ip("nexthop add id 1 via 192.0.2.1 dev eth0")
                try network.device.ip("route add default nhid 1")
            }
        ) { scenario in
            #expect(await scenario.observer.latest?.ipv4.gateway == IPAddress("192.0.2.1"))
            try scenario.host.ip("nexthop del id 1")  // the kernel tells of no route
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .noRoute)
        }
    }

    @Test(arguments: FrontEnd.allCases) func anIPv4RouteMayHaveAnIPv6NextHop(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd) { scenario in
            try scenario.network.connect()
            try scenario.host.ip("addr add 192.0.2.10/24 dev eth0")
            try scenario.host.ip("-4 route add default via inet6 fe80::1 dev eth0")
            let path = try await scenario.path { $0.isSatisfied }
            #expect(path.ipv4.gateway == IPAddress("fe80::1"))
        }
    }

    @Test(arguments: FrontEnd.allCases) func aRouteThatExpiresIsToldInTime(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd, from: .connected,
            setUp: { network in
                try network.device.ip("-6 addr add 2001:db8:1::10/64 dev eth0 nodad")
            }
        ) { scenario in
            try scenario.host.ip("-6 route add default via 2001:db8:1::1 expires 1")
            try await scenario.path { $0.isSatisfied }
            // The kernel's own event comes up to 30 s later.
            let lost = try await scenario.path(within: Timing.limit(.seconds(3), otherwise: .seconds(10))) {
                !$0.isSatisfied
            }
            #expect(lost.unsatisfiedReason == .noRoute)
        }
    }

    @Test(arguments: FrontEnd.allCases) func aRouterThatAdvertisesItselfIsToldOnceAndMissedAtOnce(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(
            on: frontEnd,
            setUp: { network in
                for namespace in [network.device, network.router] {
                    try namespace.set("ipv6/conf/default/accept_dad", to: 0)
                }
                try network.connect()
            }
        ) { scenario in
            try await withEventLoop(networkNamespace: scenario.router.name) { loop in
                func advertise(lifetime: UInt16) async {
                    let isSent = await onLoop(loop) {
                        RouterAdvertisement(lifetime: lifetime).send(from: 50)
                    }
                    #expect(isSent)
                }
                await advertise(lifetime: 1800)
                let online = try await scenario.path { $0.isSatisfied }
                #expect(online.ipv6.gateway?.isLinkLocal == true)
                let count = await scenario.observer.count
                for _ in 0..<30 { await advertise(lifetime: 1800) }
                await advertise(lifetime: 0)
                let lost = try await scenario.path { !$0.isSatisfied }
                #expect(lost.generation == online.generation + 1)
                #expect(await scenario.observer.count == count + 1)
            }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aBridgeOfContainersIsNoNetwork(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd) { scenario in
            try scenario.host.ip("link set lo up")
            try scenario.host.ip("link add docker0 type bridge")
            try scenario.host.ip("addr add 172.17.0.1/16 dev docker0")
            try scenario.host.ip("link set docker0 up")
            try await scenario.path { $0.unsatisfiedReason == .noRoute }
            try scenario.host.ip("link add v0 type veth peer name v1")
            try scenario.host.batch(["link set v0 master docker0", "link set v0 up", "link set v1 up"])
            try scenario.host.ip("link del docker0")
            let (_, passed, _) = try await scenario.observer.first { $0.scope < .site }
            #expect(!passed.contains { $0.isSatisfied })
        }
    }

    @Test(arguments: FrontEnd.allCases) func containersThatComeAndGoChangeNothing(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd, from: .ipv4,
            setUp: { network in
                try network.device.batch([
                    "link add docker0 type bridge", "addr add 172.17.0.1/16 dev docker0", "link set docker0 up",
                ])
            }
        ) { scenario in
            try await scenario.expectNoUpdates {
                for _ in 0..<10 {
                    try scenario.host.batch([
                        "link add v0 type veth peer name v1", "link set v0 master docker0", "link set v0 up",
                        "link set v1 up", "link set v0 nomaster", "link del v0",
                    ])
                }
            }
            #expect(await scenario.observer.latest?.interfaces.map(\.name) == ["eth0"])
        }
    }

    private static func twoUplinks(ignoringDeadLinks: Bool) -> (TestNetwork) throws -> Void {
        { network in
            try network.silenceIPv6()
            if ignoringDeadLinks { try network.device.set("ipv4/conf/all/ignore_routes_with_linkdown", to: 1) }
            try network.connect()
            try network.connectSecondUplink()
            try network.device.batch([
                "addr add 192.0.2.10/24 dev eth0", "route add default via 192.0.2.1 metric 100",
                "route add default via 198.51.100.1 metric 200",
            ])
        }
    }
}
