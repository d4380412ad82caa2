// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

/// Policy rules, forbidding routes and VPNs: what decides about packets beside the default route in the main table.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct PolicyScenarios {
    @Test(arguments: FrontEnd.allCases) func rulesForOthersChangeNothing(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try await scenario.expectNoUpdates {
                try scenario.host.batch([
                    "rule add uidrange 1000-1999 prohibit", "rule add fwmark 7 prohibit", "rule add iif eth0 prohibit",
                    "rule add to 203.0.113.0/24 prohibit", "rule add from 203.0.113.7 prohibit",
                ])
            }
        }
    }

    @Test(arguments: FrontEnd.allCases, ["uidrange 0-0 prohibit", "prohibit", "blackhole"])
    func aRuleForThisProcessBlocks(on frontEnd: FrontEnd, rule: String) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.ip("rule add \(rule)")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .blocked)
            try scenario.host.ip("rule del \(rule)")
            try await scenario.path { $0.isSatisfied }
        }
    }

    /// The library's connections are TCP.
    @Test(arguments: FrontEnd.allCases) func aRuleForAProtocolIsForThatAlone(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .dualStack) { scenario in
            try await scenario.expectNoUpdates {
                for family in ["-4", "-6"] { try scenario.host.ip("\(family) rule add ipproto icmp unreachable") }
            }
            for family in ["-4", "-6"] { try scenario.host.ip("\(family) rule add ipproto tcp unreachable") }
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.ipv4.unsatisfiedReason == .blocked && lost.ipv6.unsatisfiedReason == .blocked)
            for family in ["-4", "-6"] { try scenario.host.ip("\(family) rule del ipproto tcp unreachable") }
            try await scenario.path { $0.ipv4.isAvailable && $0.ipv6.isAvailable }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aRuleOfOneFamilyLeavesTheOther(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .dualStack, configuration: .prompt) { scenario in
            try scenario.host.ip("-6 rule add prohibit")
            let path = try await scenario.handover { !$0.ipv6.isAvailable }
            #expect(path.ipv6.unsatisfiedReason == .blocked)
            #expect(path.ipv4.isAvailable)
        }
    }

    @Test(arguments: FrontEnd.allCases) func aTunnelInATableOfItsOwnTakesOver(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4, configuration: .prompt) { scenario in
            let tunnel = try await Tunnel(named: "wgx", on: scenario.loop)
            defer { tunnel.close() }
            try scenario.host.batch([
                "addr add 10.8.0.2/24 dev wgx", "link set wgx up", "route add default dev wgx table 51820",
                "rule add not fwmark 51820 table 51820", "rule add table main suppress_prefixlength 0",
            ])
            let path = try await scenario.handover { $0.ipv4.interface == "wgx" }
            #expect(path.ipv4.table == 51820)
            #expect(path.primaryInterface?.kind == .tunnel)
            try scenario.host.ip("rule del not fwmark 51820 table 51820")
            try await scenario.handover { $0.ipv4.interface == "eth0" }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aTunnelWithoutItsProcessIsALinkThatIsDown(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(on: frontEnd, from: .ipv4, configuration: .prompt) { scenario in
            try scenario.host.ip("tuntap add tun0 mode tun")  // it stays when its process goes
            let tunnel = try await Tunnel(named: "tun0", on: scenario.loop)
            try scenario.host.batch([
                "addr add 10.8.0.2 peer 10.8.0.1 dev tun0", "link set tun0 up", "route add 0.0.0.0/1 dev tun0",
                "route add 128.0.0.0/1 dev tun0",
            ])
            try await scenario.handover { $0.ipv4.interface == "tun0" }
            tunnel.close()
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .linkDown)
            #expect(lost.ipv4.interface == "tun0")
            try scenario.host.ip("link del tun0")
            try await scenario.path { $0.isSatisfied && $0.ipv4.interface == "eth0" }
        }
    }

    @Test(arguments: FrontEnd.allCases) func oneHalfThroughATunnelThatDiesIsNoNetwork(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.ip("route add blackhole 128.0.0.0/1")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .blocked)
            try scenario.host.ip("route del blackhole 128.0.0.0/1")
            try await scenario.path { $0.isSatisfied }
        }
    }

    @Test(arguments: FrontEnd.allCases) func tunnelledNetworksThatAreNotTheInternetChangeNothing(
        on frontEnd: FrontEnd
    ) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try await scenario.expectNoUpdates {
                let tunnel = try await Tunnel(named: "tun0", on: scenario.loop)
                try scenario.host.batch([
                    "addr add 10.8.0.2/24 dev tun0", "link set tun0 up", "route add 203.0.113.0/24 dev tun0",
                    "route add 198.18.0.0/15 dev tun0",
                ])
                tunnel.close()
            }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aBetterRouteThanABlackholeIsANetwork(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .connected) { scenario in
            try scenario.host.batch(["addr add 192.0.2.10/24 dev eth0", "route add blackhole default metric 100"])
            try await scenario.path { $0.unsatisfiedReason == .blocked }
            try scenario.host.ip("route add default via 192.0.2.1 metric 200")  // worse: nothing changes
            try scenario.host.ip("route add default via 192.0.2.1 metric 50")
            let found = try await scenario.path { $0.unsatisfiedReason != .blocked }
            #expect(found.isSatisfied)
            try scenario.host.ip("route del default metric 50")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .blocked)
        }
    }

    @Test(arguments: FrontEnd.allCases, ["default dev lo", "local default dev lo"])
    func aDefaultRouteToThisHostIsNoNetwork(on frontEnd: FrontEnd, route: String) async throws {
        try await withScenario(on: frontEnd, from: .connected) { scenario in
            try scenario.host.ip("addr add 192.0.2.10/24 dev eth0")
            try await scenario.path { $0.unsatisfiedReason == .noRoute }
            try scenario.host.ip("route add \(route)")
            try scenario.host.ip("route del \(route)")
            try scenario.network.goOnline()
            let (path, passed, _) = try await scenario.observer.first { $0.ipv4.gateway != nil }
            #expect(path.isSatisfied && path.ipv4.interface == "eth0")
            #expect(!passed.contains { $0.isSatisfied })
        }
    }

    @Test(arguments: FrontEnd.allCases) func withoutItsRuleATableCountsForNothing(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.ip("rule del table main")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .noRoute)
            try scenario.host.ip("rule add table main priority 32766")
            try await scenario.path { $0.isSatisfied }
        }
    }

    @Test(arguments: FrontEnd.allCases) func theTableOfLastResortIsATable(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4, configuration: .prompt) { scenario in
            try scenario.host.ip("route add default via 192.0.2.254 table default")
            try scenario.host.ip("route del default table main")
            let path = try await scenario.handover { $0.ipv4.table == 253 }
            #expect(path.ipv4.gateway == IPAddress("192.0.2.254"))
        }
    }

    @Test(arguments: FrontEnd.allCases) func aRouteThatThrowsPassesTheQuestionOn(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .connected) { scenario in
            try scenario.host.batch(["addr add 192.0.2.10/24 dev eth0", "route add throw default"])
            try await scenario.reach { $0.unsatisfiedReason == .noRoute }
            try scenario.host.ip("route add default via 192.0.2.1 table default")
            try await scenario.path { $0.isSatisfied && $0.ipv4.table == 253 }
        }
    }

    /// connect(2) asks a second time, with the source that the first answer gave it.
    @Test(arguments: FrontEnd.allCases) func anIPv4RuleForTheSourceDecides(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd, from: .ipv4, configuration: .prompt,
            setUp: {
                try $0.connectSecondUplink()
                try $0.device.ip("route add default via 198.51.100.1 dev eth1 table 100")
            }
        ) { scenario in
            try scenario.host.ip("rule add from 192.0.2.10 lookup 100")
            let path = try await scenario.handover { $0.ipv4.interface == "eth1" }
            #expect(path.ipv4.gateway == IPAddress("198.51.100.1"))
            #expect(path.ipv4.source == IPAddress("192.0.2.10"))
            #expect(path.ipv4.table == 100)
            try scenario.router.ip("link set r1 down")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .linkDown)
            try scenario.host.ip("rule del from 192.0.2.10 lookup 100")
            try await scenario.path { $0.isSatisfied && $0.ipv4.interface == "eth0" }
        }
    }

    @Test(arguments: FrontEnd.allCases, ["unreachable", "prohibit", "blackhole"])
    func anIPv4RuleThatForbidsTheSourceBlocks(on frontEnd: FrontEnd, action: String) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.ip("rule add from 192.0.2.10 \(action)")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .blocked)
        }
    }

    /// Where IPv6 has no way without a source, connect(2) chooses one and asks again.
    @Test(arguments: FrontEnd.allCases) func anIPv6RouteForASourceAloneIsANetwork(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .connected, setUp: addIPv6Address) { scenario in
            #expect(await scenario.observer.latest?.unsatisfiedReason == .noRoute)
            try scenario.host.ip("-6 route add default from 2001:db8:1::/64 via 2001:db8:1::1 dev eth0")
            let path = try await scenario.path { $0.isSatisfied }
            #expect(path.ipv6.source == IPAddress("2001:db8:1::10"))
            #expect(path.ipv6.gateway == IPAddress("2001:db8:1::1"))
            try scenario.host.ip("-6 route del default from 2001:db8:1::/64")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .noRoute)
        }
    }

    @Test(arguments: FrontEnd.allCases) func anIPv6RuleForASourceAloneIsANetwork(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd, from: .connected,
            setUp: { network in
                try addIPv6Address(network)
                try network.device.ip("-6 addr add fd00:db8::10/64 dev eth0 nodad")  // no source for the internet
                try network.device.ip("-6 route add unreachable default metric 4096")
                try network.device.ip("-6 route add default via 2001:db8:1::1 dev eth0 table 100")
            }
        ) { scenario in
            #expect(await scenario.observer.latest?.unsatisfiedReason == .blocked)
            try scenario.host.ip("-6 rule add from 2001:db8:1::/64 table 100")
            let path = try await scenario.path { $0.isSatisfied }
            #expect(path.ipv6.source == IPAddress("2001:db8:1::10"))
            #expect(path.ipv6.table == 100)
            try scenario.host.ip("-6 rule del from 2001:db8:1::/64 table 100")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .blocked)
        }
    }

    /// Of two addresses that are as good the kernel takes the newer one.
    @Test(arguments: FrontEnd.allCases) func theNewestIPv6AddressIsTheSource(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .connected) { scenario in
            try scenario.host.batch([
                "addr add 2001:db8:1::10/64 dev eth0 nodad", "addr add 2001:db8:1::11/64 dev eth0 nodad",
                "route add default via 2001:db8:1::1 dev eth0 table 77",
            ])
            try scenario.host.ip("-6 rule add from 2001:db8:1::11 lookup 77")
            let path = try await scenario.path { $0.isSatisfied }
            #expect(path.ipv6.source == IPAddress("2001:db8:1::11"))
        }
    }

    /// For the choice of a source the kernel does not care for the carrier.
    @Test func anIPv6AddressOfADeadLinkMayBeTheSource() async throws {
        try await withScenario(
            from: .connected,
            setUp: { network in
                try addIPv6Address(network)
                try network.connectSecondUplink()
                try network.router.ip("link set r1 down")
                try network.device.ip("-6 addr add 2600::99/128 dev eth1 nodad")  // the nearest to what is asked about
                try network.device.ip("-6 route add default via 2001:db8:1::1 dev eth0 table 77")
                try network.device.ip("-6 rule add from 2001:db8:1::10 lookup 77")
            }
        ) { scenario in
            #expect(await scenario.observer.latest?.ipv6.unsatisfiedReason == .noRoute)
            try scenario.host.ip("-6 addr del 2600::99/128 dev eth1")
            let path = try await scenario.path { $0.ipv6.isAvailable }
            #expect(path.ipv6.source == IPAddress("2001:db8:1::10"))
        }
    }

    /// Nor whether the link is switched on at all.
    @Test func anIPv6AddressOfALinkThatIsOffMayBeTheSource() async throws {
        try await withScenario(
            from: .connected,
            setUp: { network in
                try addIPv6Address(network)
                try network.connectSecondUplink()
                try network.device.ip("link set eth1 down")
                try network.device.ip("-6 route add default via 2001:db8:1::1 dev eth0 table 77")
                try network.device.ip("-6 rule add from 2001:db8:1::10 lookup 77")
            }
        ) { scenario in
            #expect(await scenario.observer.latest?.ipv6.source == IPAddress("2001:db8:1::10"))
            try scenario.host.ip("-6 addr add 2600::99/128 dev eth1 nodad")  // the nearest to what is asked about
            _ = try await scenario.path { !$0.ipv6.isAvailable }
            try scenario.host.ip("-6 rule add from 2600::99 lookup 77")
            let path = try await scenario.path { $0.ipv6.isAvailable }
            #expect(path.ipv6.source == IPAddress("2600::99"))
        }
    }

    /// An address that stays without its link has to be checked again, which the kernel does not say.
    @Test func anIPv6AddressThatIsKeptWithoutItsLinkIsNoSource() async throws {
        try await withScenario(
            from: .connected,
            setUp: { network in
                try addIPv6Address(network)
                try network.connectSecondUplink()
                try network.device.set("ipv6/conf/eth1/keep_addr_on_down", to: 1)
                try network.device.set("ipv6/conf/eth1/accept_dad", to: 0)
                try network.device.ip("-6 addr add 2600::99/128 dev eth1")
                try network.device.ip("-6 route add default via 2001:db8:1::1 dev eth0 table 77")
                try network.device.ip("-6 rule add from 2001:db8:1::10 lookup 77")
            }
        ) { scenario in
            #expect(await scenario.observer.latest?.ipv6.isAvailable == false)
            try scenario.host.ip("link set eth1 down")
            let path = try await scenario.path { $0.ipv6.isAvailable }
            #expect(path.ipv6.source == IPAddress("2001:db8:1::10"))
        }
    }

    private func addIPv6Address(_ network: TestNetwork) throws {
        try network.device.ip("-6 addr add 2001:db8:1::10/64 dev eth0 nodad")
    }
}
