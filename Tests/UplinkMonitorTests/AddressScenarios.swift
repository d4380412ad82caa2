// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkMonitor
import UplinkTesting

/// What the monitor says as links and addresses come and go, in a real kernel.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct AddressScenarios {
    @Test(arguments: FrontEnd.allCases) func anEmptyNamespaceHasNoInterface(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd) { scenario in
            let path = try #require(await scenario.observer.latest)
            #expect(path.status == .unsatisfied)
            #expect(path.unsatisfiedReason == .noInterface)
            #expect(path.scope == .none)
            #expect(path.interfaces.isEmpty)
        }
    }

    @Test(arguments: FrontEnd.allCases) func theLoopbackIsNoNetwork(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd) { scenario in
            try scenario.host.ip("link set lo up")
            let path = try await scenario.path { $0.scope == .host }
            #expect(path.status == .unsatisfied)
            #expect(path.unsatisfiedReason == .noInterface)
        }
    }

    @Test(arguments: FrontEnd.allCases) func aLinkWithoutAddressIsNoNetwork(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd) { scenario in
            try scenario.network.connect()
            let path = try await scenario.path { $0.unsatisfiedReason == .noAddress }
            #expect(path.status == .unsatisfied)
        }
    }

    @Test(arguments: FrontEnd.allCases) func anAddressAndARouteAreANetwork(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd) { scenario in
            try scenario.network.connect()
            try scenario.network.addIPv4()
            let path = try await scenario.path(where: \.isSatisfied)
            #expect(path.ipv4.isAvailable)
            #expect(!path.ipv6.isAvailable)
            #expect(path.ipv4.interface == "eth0")
            #expect(path.ipv4.interfaceIndex == 40)
            #expect(path.ipv4.gateway == IPAddress("192.0.2.1"))
            #expect(path.ipv4.source == IPAddress("192.0.2.10"))
            #expect(path.ipv4.table == 254)
            #expect(path.primaryInterface?.name == "eth0")
            #expect(path.primaryInterface?.kind == .ethernet)
            #expect(path.primaryInterface?.addresses.first == IPAddress("192.0.2.10"))
            #expect(path.primaryInterface?.mtu == 1500)
            #expect(path.scope == .global)
            #expect(path.unsatisfiedReason == nil)
        }
    }

    @Test(arguments: FrontEnd.allCases) func bothFamiliesAreToldApart(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4, configuration: .prompt) { scenario in
            try scenario.network.addIPv6()
            let both = try await scenario.handover { $0.ipv6.isAvailable }
            #expect(both.ipv4.isAvailable)
            #expect(both.ipv6.source == IPAddress("2001:db8:1::10"))
            #expect(both.ipv6.gateway == IPAddress("2001:db8:1::1"))
            try scenario.host.ip("route del default")
            let one = try await scenario.handover { !$0.ipv4.isAvailable }
            #expect(one.ipv4.unsatisfiedReason == .noRoute)
        }
    }

    @Test(arguments: FrontEnd.allCases) func anAddressUnderCheckIsPendingAndThenANetwork(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(on: frontEnd) { scenario in
            try scenario.network.connect()
            try scenario.host.ip("-6 addr add 2001:db8:1::10/64 dev eth0")
            try scenario.host.ip("-6 route add default via 2001:db8:1::1")
            try await scenario.path { $0.unsatisfiedReason == .addressPending }
            let path = try await scenario.path(where: \.isSatisfied)
            #expect(path.ipv6.isAvailable)
            #expect(!path.ipv4.isAvailable)
        }
    }

    @Test(arguments: FrontEnd.allCases) func anIPv6RouteFromALinkLocalAddressIsNoNetwork(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(on: frontEnd) { scenario in
            try scenario.network.connect()
            try await scenario.path { $0.scope == .link }  // the link-local address is usable
            try scenario.host.ip("-6 route add default via fe80::1 dev eth0")
            let path = try await scenario.path { $0.ipv6.gateway == IPAddress("fe80::1") }
            #expect(path.status == .unsatisfied)
            #expect(path.unsatisfiedReason == .noAddress)
        }
    }

    @Test(arguments: FrontEnd.allCases) func theRoutersEndOfTheCableGoesDownAndUp(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            for _ in 0..<3 {
                try scenario.router.ip("link set r0 down")
                let lost = try await scenario.path(within: Timing.limit(.milliseconds(1500))) { !$0.isSatisfied }
                #expect(lost.unsatisfiedReason == .linkDown)
                #expect(lost.ipv4.interface == "eth0")
                try scenario.router.ip("link set r0 up")
                try await scenario.path(where: \.isSatisfied)
            }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aLinkThatIsSwitchedOffLosesItsRoutes(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.ip("link set eth0 down")
            try await scenario.path { $0.unsatisfiedReason == .noInterface }
            try scenario.host.ip("link set eth0 up")
            let (up, passed, _) = try await scenario.observer.first { $0.unsatisfiedReason == .noRoute }
            #expect(up.scope == .site)
            #expect(!passed.contains { $0.isSatisfied })
            try scenario.host.ip("route add default via 192.0.2.1")
            try await scenario.path(where: \.isSatisfied)
        }
    }

    @Test(arguments: FrontEnd.allCases) func theLastAddressTakesTheRoutesWithIt(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.ip("addr del 192.0.2.10/24 dev eth0")
            let path = try await scenario.path { !$0.isSatisfied }
            #expect(path.unsatisfiedReason == .noAddress)
        }
    }

    @Test(arguments: FrontEnd.allCases) func secondaryAddressesChangeNothing(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try await scenario.expectNoUpdates {
                for change in ["add", "del"] {
                    for last in 20..<30 { try scenario.host.ip("addr \(change) 192.0.2.\(last)/24 dev eth0") }
                    for last in 20..<30 { try scenario.host.ip("addr \(change) 2001:db8:1::\(last)/64 dev eth0") }
                }
            }
        }
    }

    @Test(arguments: FrontEnd.allCases) func aLinkThatWaitsForAuthenticationIsDormant(on frontEnd: FrontEnd)
        async throws
    {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.ip("link set eth0 mode dormant")
            try scenario.router.ip("link set r0 down")
            try await scenario.path { $0.unsatisfiedReason == .linkDown }
            try scenario.router.ip("link set r0 up")
            try await scenario.path { $0.unsatisfiedReason == .linkDormant }
            try scenario.host.ip("link set eth0 state up")
            try await scenario.path(where: \.isSatisfied)
        }
    }

    @Test(arguments: FrontEnd.allCases) func aRenamedLinkStaysANetwork(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4, configuration: .prompt) { scenario in
            try scenario.host.ip("link set eth0 name wan0")
            let path = try await scenario.handover { $0.ipv4.interface == "wan0" }
            #expect(path.primaryInterface?.name == "wan0")
            #expect(path.primaryInterface?.index == 40)
        }
    }

    @Test(arguments: FrontEnd.allCases) func anIndexThatComesBackIsAnotherLink(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.host.ip("link del eth0")
            try await scenario.path { !$0.isSatisfied }
            try scenario.host.ip("link add eth9 index 40 type veth peer name r9 index 59 netns \(scenario.router.name)")
            try scenario.router.ip("link set r9 up")
            try scenario.host.ip("link set eth9 up")
            let up = try await scenario.path { $0.unsatisfiedReason == .noAddress }
            #expect(up.scope <= .link)  // the old link's address is gone
            try scenario.host.ip("addr add 192.0.2.10/24 dev eth9")
            try scenario.host.ip("route add default via 192.0.2.1")
            let path = try await scenario.path(where: \.isSatisfied)
            #expect(path.primaryInterface?.name == "eth9")
        }
    }

    @Test(arguments: FrontEnd.allCases) func theRoutersInterfaceIsDeleted(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try scenario.router.ip("link del r0")
            try await scenario.path { !$0.isSatisfied }
        }
    }
}
