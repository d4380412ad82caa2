// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

/// Several uplinks, next hops of all kinds, and families that part.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct UplinkScenarios {
    @Test(arguments: FrontEnd.allCases) func theBetterMetricWins(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd, from: .ipv4, configuration: .prompt, setUp: { try $0.connectSecondUplink() }
        ) { scenario in
            try scenario.host.ip("route add default via 198.51.100.1 metric 200")
            try scenario.host.ip("route append default via 192.0.2.1 metric 300")
            try scenario.host.ip("route del default via 192.0.2.1 metric 0")
            let second = try await scenario.handover { $0.ipv4.interface == "eth1" }
            #expect(second.interfaces.map(\.name) == ["eth1", "eth0"])
            try scenario.host.ip("route add default via 192.0.2.1 metric 100")
            try await scenario.handover { $0.ipv4.interface == "eth0" }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aDeadLegOfSeveralIsLeftOut(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd, configuration: .prompt,
            setUp: { network in
                try network.silenceIPv6()
                try network.device.set("ipv4/conf/all/ignore_routes_with_linkdown", to: 1)
                try network.connect()
                try network.connectSecondUplink()
                try network.device.batch([
                    "addr add 192.0.2.10/24 dev eth0",
                    "route add default nexthop via 192.0.2.1 dev eth0 nexthop via 198.51.100.1 dev eth1",
                ])
            }
        ) { scenario in
            #expect(await scenario.observer.latest?.isSatisfied == true)
            try scenario.network.cableOut()
            // Which leg a probe took before is the kernel's secret; a change that shows on the living one.
            try scenario.host.ip(
                "route replace default nexthop via 192.0.2.254 dev eth0 nexthop via 198.51.100.9 dev eth1")
            try await scenario.handover { $0.ipv4.gateway == IPAddress("198.51.100.9") }
            try scenario.router.ip("link set r1 down")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.ipv4.unsatisfiedReason != nil)
        }
    }

    @Test(arguments: FrontEnd.allCases) func aGroupOfNextHopsShrinksToItsEnd(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd, configuration: .prompt,
            setUp: { network in
                try network.silenceIPv6()
                try network.connect()
                try network.connectSecondUplink()
                try network.device.batch([
                    "addr add 192.0.2.10/24 dev eth0", "nexthop add id 1 via 192.0.2.1 dev eth0",
                    "nexthop add id 2 via 198.51.100.1 dev eth1", "nexthop add id 10 group 1/2",
                    "route add default nhid 10",
                ])
            }
        ) { scenario in
            try scenario.host.ip("nexthop del id 1")
            try scenario.host.ip("nexthop replace id 2 via 198.51.100.9 dev eth1")
            try await scenario.handover { $0.ipv4.gateway == IPAddress("198.51.100.9") }
            try scenario.host.ip("nexthop del id 2")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .noRoute)
        }
    }

    @Test(arguments: FrontEnd.allCases) func aNextHopObjectMayBecomeABlackhole(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd, from: .connected,
            setUp: { network in
                try network.device.batch([
                    "addr add 192.0.2.10/24 dev eth0", "nexthop add id 1 via 192.0.2.1 dev eth0",
                    "nexthop add id 2 blackhole", "route add default nhid 1",
                ])
            }
        ) { scenario in
            try scenario.host.ip("route replace default nhid 2")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .blocked)
            try scenario.host.ip("route replace default nhid 1")
            try await scenario.path { $0.isSatisfied }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aNextHopObjectOfIPv6TakesItsRoutesWithIt(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(
            on: frontEnd, from: .connected,
            setUp: { network in
                try network.device.batch([
                    "addr add 2001:db8:1::10/64 dev eth0 nodad", "nexthop add id 6 via 2001:db8:1::1 dev eth0",
                    "route add 2000::/3 nhid 6",
                ])
            }
        ) { scenario in
            #expect(await scenario.observer.latest?.ipv6.isAvailable == true)
            try scenario.host.ip("nexthop del id 6")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.ipv6.unsatisfiedReason == .noRoute)
        }
    }

    @Test(arguments: FrontEnd.allCases) func oneOfTwoRoutersWithTheSameMetricLeaves(on frontEnd: FrontEnd) async throws
    {
        try await withScenario(
            on: frontEnd, from: .ipv6, configuration: .prompt,
            setUp: { network in
                try network.connectSecondUplink()
                try network.device.batch([
                    "addr add 2001:db8:2::10/64 dev eth1 nodad",
                    "route append default via 2001:db8:2::1 dev eth1 metric 1024",
                ])
            }
        ) { scenario in
            try scenario.host.ip("-6 route del default via 2001:db8:1::1 dev eth0")
            try scenario.host.ip("-6 route replace default via 2001:db8:2::2 dev eth1 metric 1024")
            try await scenario.handover { $0.ipv6.gateway == IPAddress("2001:db8:2::2") }
            try scenario.host.ip("-6 route del default via 2001:db8:2::2 dev eth1")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.ipv6.unsatisfiedReason == .noRoute)
        }
    }

    @Test(arguments: FrontEnd.allCases) func anIPv6NetworkWithATranslatorGainsIPv4(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv6, configuration: .prompt) { scenario in
            let before = try #require(await scenario.observer.latest)
            #expect(before.ipv6.isAvailable && !before.ipv4.isAvailable)
            let translator = try await Tunnel(named: "clat", on: scenario.loop)
            try scenario.host.batch([
                "addr add 192.0.0.4/32 dev clat", "link set clat up", "route add default dev clat mtu 1260",
            ])
            let both = try await scenario.handover { $0.ipv4.isAvailable }
            #expect(both.ipv4.source == IPAddress("192.0.0.4"))
            #expect(both.ipv6.interface == "eth0")
            #expect(Set(both.interfacesInUse.map(\.name)) == ["clat", "eth0"])
            translator.close()
            try await scenario.handover { !$0.ipv4.isAvailable }
        }
    }

    @Test(arguments: FrontEnd.allCases) func familiesMayPartOverTwoUplinks(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd, from: .ipv6, configuration: .prompt, setUp: { try $0.connectSecondUplink() }
        ) { scenario in
            try scenario.host.ip("route add default via 198.51.100.1")
            let both = try await scenario.handover { $0.ipv4.isAvailable }
            #expect(both.ipv4.interface == "eth1")
            #expect(both.ipv6.interface == "eth0")
            try scenario.network.cableOut()
            let one = try await scenario.handover { !$0.ipv6.isAvailable }
            #expect(one.ipv6.unsatisfiedReason == .linkDown)
            #expect(one.primaryInterface?.name == "eth1")
        }
    }

    @Test(arguments: FrontEnd.allCases) func aSecondUplinkThatComesDoesNotDisturbTheFirst(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(on: frontEnd, from: .ipv4, configuration: .prompt) { scenario in
            try scenario.network.connectSecondUplink()
            try scenario.host.ip("route add default via 198.51.100.1 metric 500")
            try scenario.host.ip("route replace default via 192.0.2.254")
            let path = try await scenario.handover { $0.ipv4.gateway == IPAddress("192.0.2.254") }
            #expect(path.interfaces.map(\.name) == ["eth0", "eth1"])
        }
    }
}
