// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkTesting

/// Addresses that are checked, age, end, or are of unusual kinds; and the settings that decide about them.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct AddressLifeScenarios {
    @Test(arguments: FrontEnd.allCases) func aDuplicateAddressIsNoNetwork(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .connected) { scenario in
            try scenario.router.ip("addr add 2001:db8:1::10/64 dev r0 nodad")
            try scenario.host.ip("-6 addr add 2001:db8:1::10/64 dev eth0")
            try scenario.host.ip("-6 route add default via 2001:db8:1::1")
            try await eventually("the kernel finds the duplicate") {
                try await scenario.network.run(["ip", "addr", "show", "dev", "eth0"]).output.contains("dadfailed")
            }
            try scenario.network.addIPv4()
            let (path, passed, _) = try await scenario.observer.first { $0.isSatisfied }
            #expect(path.ipv4.isAvailable)
            #expect(path.ipv6.unsatisfiedReason == .noAddress)
            #expect(!passed.contains { $0.isSatisfied })
        }
    }

    @Test(arguments: FrontEnd.allCases) func aDeprecatedAddressIsStillANetwork(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv6, configuration: .prompt) { scenario in
            try scenario.host.ip("-6 addr change 2001:db8:1::10/64 dev eth0 preferred_lft 0 valid_lft 300")
            try scenario.host.ip("-6 route replace default via fe80::2 dev eth0")
            try await scenario.handover { $0.ipv6.gateway == IPAddress("fe80::2") }
        }
    }

    @Test(arguments: FrontEnd.allCases) func anAddressEndsWithItsLifetime(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .connected) { scenario in
            try scenario.host.ip("-6 addr add 2001:db8:1::10/64 dev eth0 nodad valid_lft 2 preferred_lft 1")
            try scenario.host.ip("-6 route add default via 2001:db8:1::1")
            try await scenario.path { $0.isSatisfied }
            try await scenario.path { !$0.isSatisfied }
        }
    }

    @Test(arguments: FrontEnd.allCases) func renewalsChangeNothing(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .dualStack) { scenario in
            try await scenario.expectNoUpdates {
                for seconds in 300..<320 {
                    try scenario.host.batch([
                        "addr change 192.0.2.10/24 dev eth0 valid_lft \(seconds) preferred_lft \(seconds)",
                        "addr change 2001:db8:1::10/64 dev eth0 valid_lft \(seconds) preferred_lft \(seconds)",
                    ])
                }
            }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aNewLeaseIsAnotherSource(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            let before = try #require(await scenario.observer.latest)
            try scenario.network.changeAddress()
            let after = try await scenario.path { $0.isSatisfied && $0.ipv4.source != before.ipv4.source }
            #expect(after.ipv4.source == IPAddress("192.0.2.20"))
            #expect(after.generation > before.generation)
        }
    }

    @Test(arguments: FrontEnd.allCases) func aRouteWithoutAnAddressIsNoNetwork(on frontEnd: FrontEnd) async throws {
        try await withScenario(
            on: frontEnd,
            setUp: { network in
                try network.silenceIPv6()
                try network.connect()
            }
        ) { scenario in
            try scenario.host.ip("route add default dev eth0")
            let path = try await scenario.path { $0.ipv4.interface == "eth0" }
            #expect(path.unsatisfiedReason == .noAddress)
        }
    }

    @Test(arguments: FrontEnd.allCases, ["169.254.3.4/16", "100.64.0.9/10"])
    func unusualAddressesWithADefaultRouteAreANetwork(on frontEnd: FrontEnd, address: String) async throws {
        try await withScenario(on: frontEnd, from: .connected) { scenario in
            try scenario.host.batch(["addr add \(address) dev eth0", "route add default dev eth0"])
            let path = try await scenario.path { $0.isSatisfied }
            #expect(path.ipv4.source?.description == address.split(separator: "/").first.map(String.init))
        }
    }

    @Test(arguments: FrontEnd.allCases) func aUniqueLocalAddressWithADefaultRouteIsANetwork(
        on frontEnd: FrontEnd
    ) async throws {
        try await withScenario(on: frontEnd, from: .connected) { scenario in
            try scenario.host.batch(["addr add fd00::10/64 dev eth0 nodad", "route add default via fd00::1"])
            try await scenario.path { $0.isSatisfied && $0.ipv6.source == IPAddress("fd00::10") }
        }
    }

    @Test(arguments: FrontEnd.allCases) func ipv6MayBeSwitchedOff(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv6) { scenario in
            try scenario.host.set("ipv6/conf/all/disable_ipv6", to: 1)
            try await scenario.path { !$0.isSatisfied }
            try scenario.host.set("ipv6/conf/all/disable_ipv6", to: 0)
            try scenario.network.goOnline()
            try await scenario.path { $0.isSatisfied && $0.ipv6.isAvailable }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aHostThatBecomesARouterKeepsItsPath(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .dualStack) { scenario in
            try await scenario.expectNoUpdates {
                for value in [1, 0, 1] {
                    try scenario.host.set("ipv4/conf/all/forwarding", to: value)
                    try scenario.host.set("ipv4/conf/all/rp_filter", to: value)
                    try scenario.host.set("ipv6/conf/all/forwarding", to: value)
                }
            }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aHostThatBecomesARouterForgetsWhatRoutersSaid(
        on frontEnd: FrontEnd
    ) async throws {
        try await withAdvertisedScenario(on: frontEnd) { scenario, advertise in
            try await advertise(1800)
            try await scenario.path { $0.isSatisfied }
            try scenario.host.set("ipv6/conf/all/forwarding", to: 1)
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.ipv6.unsatisfiedReason == .noRoute)
        }
    }

    @Test(arguments: FrontEnd.allCases) func aRouterThatFallsSilentIsMissedInTime(on frontEnd: FrontEnd) async throws {
        try await withAdvertisedScenario(on: frontEnd) { scenario, advertise in
            try await advertise(2)  // the kernel's own event comes when it collects its garbage, up to 30 s later
            try await scenario.path { $0.isSatisfied }
            try await scenario.path(within: Timing.limit(.milliseconds(3500), otherwise: .seconds(10))) {
                !$0.isSatisfied
            }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aLifetimeThatIsRenewedGoesOn(on frontEnd: FrontEnd) async throws {
        try await withAdvertisedScenario(on: frontEnd) { scenario, advertise in
            try await advertise(3)
            let online = try await scenario.path { $0.isSatisfied }
            for _ in 0..<3 {
                try await Task.sleep(for: .seconds(1))  // real time: the kernel's, with two seconds to spare
                try await advertise(3)
            }
            #expect(await scenario.observer.latest == online)
            try await scenario.path(within: Timing.limit(.milliseconds(4500), otherwise: .seconds(10))) {
                !$0.isSatisfied
            }
        }
    }

    /// The kernel tells nothing of it but that the addresses are there.
    @Test(arguments: FrontEnd.allCases) func aLifetimeThatIsCutShortCounts(on frontEnd: FrontEnd) async throws {
        try await withAdvertisedScenario(on: frontEnd) { scenario, advertise in
            try await advertise(1800)
            try await scenario.path { $0.isSatisfied }
            try await advertise(2)
            try await scenario.path(within: Timing.limit(.milliseconds(3500), otherwise: .seconds(10))) {
                !$0.isSatisfied
            }
        }
    }

    private func withAdvertisedScenario(
        on frontEnd: FrontEnd, _ body: (Scenario, (_ lifetime: UInt16) async throws -> Void) async throws -> Void
    ) async throws {
        try await withScenario(
            on: frontEnd,
            setUp: { network in
                for namespace in [network.device, network.router] {
                    try namespace.set("ipv6/conf/default/accept_dad", to: 0)
                }
                try network.connect()
            }
        ) { scenario in
            try await withEventLoop(networkNamespace: scenario.router.path) { loop in
                try await body(scenario) { lifetime in
                    try await eventually("the router has an address to speak from") {
                        await onLoop(loop) { RouterAdvertisement(lifetime: lifetime).send(from: 50) }
                    }
                }
            }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aLinkTooNarrowForIPv6LosesIt(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv6) { scenario in
            try scenario.host.ip("link set eth0 mtu 1200")  // less than the 1280 of RFC 8200
            try await scenario.path { !$0.isSatisfied }
            try scenario.host.ip("link set eth0 mtu 1500")
            try scenario.network.goOnline()
            try await scenario.path { $0.isSatisfied }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aGatewayMayBeOutsideOfTheAddressesNetwork(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(on: frontEnd, from: .connected) { scenario in
            try scenario.host.batch(["addr add 10.9.8.7/32 dev eth0", "route add default via 10.0.0.1 dev eth0 onlink"])
            let path = try await scenario.path { $0.isSatisfied }
            #expect(path.ipv4.gateway == IPAddress("10.0.0.1"))
            #expect(path.ipv4.source == IPAddress("10.9.8.7"))
        }
    }

    @Test(arguments: FrontEnd.allCases) func theRouteMayChooseTheSource(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4, configuration: .prompt) { scenario in
            try scenario.host.ip("addr add 192.0.2.77/24 dev eth0")
            try scenario.host.ip("route replace default via 192.0.2.1 src 192.0.2.77")
            try await scenario.handover { $0.ipv4.source == IPAddress("192.0.2.77") }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aPromotedAddressTakesOver(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.set("ipv4/conf/all/promote_secondaries", to: 1)
            try scenario.host.ip("addr add 192.0.2.77/24 dev eth0")
            try scenario.host.ip("addr del 192.0.2.10/24 dev eth0")
            let after = try await scenario.path { $0.ipv4.source != IPAddress("192.0.2.10") }
            #expect(after.isSatisfied == (after.ipv4.source == IPAddress("192.0.2.77")))
            try scenario.host.ip("route replace default via 192.0.2.1")
            try await scenario.reach { $0.isSatisfied && $0.ipv4.source == IPAddress("192.0.2.77") }
        }
    }
}
