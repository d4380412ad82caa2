// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import UplinkMonitor

/// What a path says beside the way out: other uplinks, what carries a tunnel, next hops, the network's identity.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct AlternativesScenarios {
    @Test func aDeadUplinkThatTheKernelInsistsOnHasAnAlternative() async throws {
        try await withScenario(from: .ipv4, setUp: secondDefault) { scenario in
            let online = try #require(await scenario.observer.latest)
            #expect(online.interfaces.map(\.name) == ["eth0", "eth1"])
            #expect(online.alternatives.map(\.name) == ["eth1"])
            try scenario.network.cableOut()
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .linkDown)
            #expect(lost.interfaces.isEmpty)
            #expect(lost.alternatives.map(\.name) == ["eth1"])
            #expect(lost.alternatives.first?.gateways == [IPAddress("198.51.100.1")].compactMap { $0 })
            #expect(lost.alternatives.first?.addresses.first == IPAddress("198.51.100.10"))
        }
    }

    @Test func anUplinkWithoutARouteOrWithoutACarrierIsNoAlternative() async throws {
        try await withScenario(from: .ipv4, setUp: { try $0.connectSecondUplink() }) { scenario in
            #expect(await scenario.observer.latest?.alternatives.isEmpty == true)
            try scenario.network.cableOut()
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.alternatives.isEmpty)
        }
    }

    /// Asked with a source, the kernel names another link's route for IPv6. A socket that is bound to the link gets
    /// none.
    @Test(arguments: [false, true]) func aLinkWithAnIPv6AddressNeedsARouteToBeAnAlternative(hasRoute: Bool) async throws
    {
        try await withScenario(
            from: .ipv6,
            setUp: { network in
                try network.connectSecondUplink()
                try network.device.ip("-6 addr add 2001:db8:9::10/64 dev eth1 nodad")
                if hasRoute { try network.device.ip("-6 route add default via fe80::2 dev eth1 metric 9999") }
            }
        ) { scenario in
            let path = try #require(await scenario.observer.latest)
            #expect(path.isSatisfied)
            #expect(path.interfaces.first?.name == "eth0")
            #expect(path.alternatives.map(\.name) == (hasRoute ? ["eth1"] : []))
        }
    }

    /// The entry of such a route names no router.
    @Test func theLegThatIsNotInUseHasItsRouter() async throws {
        try await withScenario(
            from: .connected,
            setUp: { network in
                try network.connectSecondUplink()
                try network.device.batch([
                    "addr add 192.0.2.10/24 dev eth0",
                    "route add default nexthop via 192.0.2.1 dev eth0 nexthop via 198.51.100.1 dev eth1",
                ])
            }
        ) { scenario in
            let path = try #require(await scenario.observer.latest)
            let used = Set(path.interfacesInUse.map(\.name))
            let unused = ["eth0": "192.0.2.1", "eth1": "198.51.100.1"].filter { !used.contains($0.key) }
            try #require(!unused.isEmpty)
            #expect(path.alternatives.map(\.name) == Array(unused.keys))
            #expect(path.alternatives.flatMap(\.gateways).map(\.description) == Array(unused.values))
        }
    }

    @Test func halfARouteIsNoAlternative() async throws {
        try await withScenario(from: .ipv4, setUp: { try $0.connectSecondUplink() }) { scenario in
            try scenario.host.ip("route add 0.0.0.0/1 via 198.51.100.1 metric 9")  // one probe of two
            try scenario.network.cableOut()
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.alternatives.isEmpty)
        }
    }

    @Test func aDeprecatedAddressIsADegradedNetwork() async throws {
        try await withScenario(from: .connected) { scenario in
            try scenario.host.ip("-6 addr add 2001:db8:1::10/64 dev eth0 nodad preferred_lft 0 valid_lft 600")
            try scenario.host.ip("-6 route add default via 2001:db8:1::1")
            let path = try await scenario.path { $0.isSatisfied }
            #expect(path.ipv6.isDegraded)
            #expect(path.ipv6.source == IPAddress("2001:db8:1::10"))
        }
    }

    @Test(
        arguments: [("failed", .failed), ("permanent", .permanent), ("noarp", .permanent), ("stale", .stale)]
            as [(String, FamilyPath.GatewayState)])
    func whatTheNeighbourTableSaysIsAHint(state: String, expected: FamilyPath.GatewayState) async throws {
        try await withScenario(from: .ipv4, configuration: .prompt) { scenario in
            let address = state == "failed" ? "" : "lladdr 02:00:00:00:00:09"
            try scenario.host.ip("neigh replace 192.0.2.9 \(address) dev eth0 nud \(state)")
            try scenario.host.ip("route replace default via 192.0.2.9")
            let path = try await scenario.handover { $0.ipv4.gateway == IPAddress("192.0.2.9") }
            #expect(path.ipv4.gatewayState == expected)
            #expect(path.ipv6.gatewayState == nil)
        }
    }

    /// IPv4 and IPv6 turn to the other route when packets find nobody on the first; one need not wait for that.
    @Test(arguments: [IPAddress.Family.ipv4, .ipv6])
    func aCableThatIsPulledHandsOverToARouteOfTheSameMetric(family: IPAddress.Family) async throws {
        try await withScenario(
            from: family == .ipv4 ? .ipv4 : .ipv6, configuration: .prompt, setUp: { try appendDefault(family, $0) }
        ) { scenario in
            let used = try #require(await scenario.observer.latest?[family].interface)
            let other = used == "eth0" ? "eth1" : "eth0"
            try scenario.router.ip("link set \(used == "eth0" ? "r0" : "r1") down")
            let path = try await scenario.handover { $0[family].interface == other }
            #expect(path[family].gateway == IPAddress(router(family, on: other)))
            #expect(path.primaryInterface?.name == other)
            try scenario.host.ip("neigh replace \(router(family, on: used)) dev \(used) nud failed")
            try scenario.router.ip("link set \(other == "eth0" ? "r0" : "r1") down")
            let lost = try await scenario.path(within: .seconds(2)) { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .linkDown)
        }
    }

    /// IPv4 would go on sending into the dead one.
    @Test func aCableThatIsPulledHandsOverToALargerMetricOfIPv6() async throws {
        try await withScenario(
            from: .ipv6, configuration: .prompt,
            setUp: { network in
                try network.connectSecondUplink()
                try network.device.batch([
                    "addr add 2001:db8:2::10/64 dev eth1 nodad",
                    "route append default via 2001:db8:2::1 dev eth1 metric 2048",
                ])
            }
        ) { scenario in
            #expect(await scenario.observer.latest?.ipv6.interface == "eth0")
            try scenario.router.ip("link set r0 down")
            let path = try await scenario.handover { $0.ipv6.interface == "eth1" }
            #expect(path.ipv6.gateway == IPAddress("2001:db8:2::1"))
        }
    }

    @Test(arguments: [IPAddress.Family.ipv4, .ipv6])
    func aRouterThatFallsSilentHandsOverToARouteOfTheSameMetric(family: IPAddress.Family) async throws {
        try await withScenario(
            from: family == .ipv4 ? .ipv4 : .ipv6, configuration: .prompt, setUp: { try appendDefault(family, $0) }
        ) { scenario in
            let used = try #require(await scenario.observer.latest?[family].interface)
            let other = used == "eth0" ? "eth1" : "eth0"
            let silent = router(family, on: used)
            // Only a neighbour that was known before falls silent at a word.
            try scenario.host.ip("neigh replace \(silent) lladdr 02:00:00:00:00:09 dev \(used) nud reachable")
            try scenario.host.ip("neigh replace \(silent) dev \(used) nud failed")
            let path = try await scenario.handover { $0[family].interface == other }
            #expect(path[family].gateway == IPAddress(router(family, on: other)))
            #expect(path.alternatives.map(\.name) == [used])
        }
    }

    /// The kernel names the other one from the beginning, so that nobody has asked about the first.
    @Test func aRouterThatWasSilentFromTheBeginningIsSeenToAnswer() async throws {
        let better = "fe80::a"
        let other = "fe80::b"
        let (betterAddress, otherAddress) = (try #require(IPAddress(better)), try #require(IPAddress(other)))
        try await withScenario(
            configuration: .prompt,
            setUp: { network in
                for namespace in [network.device, network.router] {
                    try namespace.set("ipv6/conf/default/accept_dad", to: 0)
                }
                try network.connect()
                for router in [better, other] { try network.router.ip("-6 addr add \(router)/64 dev r0 nodad") }
            }
        ) { scenario in
            try await withEventLoop(networkNamespace: scenario.router.name) { loop in
                for router in [better, other] {
                    let advertisement = RouterAdvertisement(
                        lifetime: 1800, isPreferred: router == better, source: router)
                    #expect(await onLoop(loop) { advertisement.send(from: 50) })
                }
            }
            try await scenario.reach { $0.ipv6.gateway == betterAddress }
            func entry(_ router: String) -> String {
                "neigh replace \(router) lladdr 02:00:00:00:00:09 dev eth0 nud reachable router"
            }
            try scenario.host.batch([
                entry(other), entry(better), "neigh replace \(better) dev eth0 nud failed router",
            ])
            try await scenario.reach { $0.ipv6.gateway == otherAddress }
            let late = LinuxNetworkMonitor(on: scenario.loop, configuration: try .prompt)
            let observer = PathObserver()
            try await FrontEnd.library.observing(scenario.network, late, observer) {
                let first = try await observer.first { _ in true }.path
                #expect(first.ipv6.gateway == otherAddress)
                try scenario.host.ip(entry(better))
                let next = try await observer.first { $0.ipv6.gateway == betterAddress }.path
                #expect(next.ipv6.gatewayState == .reachable)
            }
        }
    }

    @Test func neighboursThatComeAndGoTellNothing() async throws {
        try await withScenario(from: .ipv4) { scenario in
            try await scenario.expectNoUpdates {
                try scenario.host.batch([
                    "neigh replace 192.0.2.1 lladdr 02:00:00:00:00:01 dev eth0 nud reachable",
                    "neigh replace 192.0.2.1 dev eth0 nud failed", "neigh del 192.0.2.1 dev eth0",
                ])
            }
        }
    }

    @Test func theSameNetworkHasTheSameNumber() async throws {
        try await withScenario(from: .ipv4, configuration: .prompt) { scenario in
            let first = try #require(await scenario.observer.latest)
            #expect(first.networkID != nil)
            try scenario.host.ip("route replace default via 192.0.2.254")
            let other = try await scenario.handover { $0.ipv4.gateway == IPAddress("192.0.2.254") }
            #expect(other.networkID != first.networkID)
            try scenario.host.ip("route del default")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.networkID == nil)
            try scenario.host.ip("route add default via 192.0.2.1")
            let again = try await scenario.path { $0.isSatisfied }
            #expect(again.networkID == first.networkID)
            #expect(again.generation > first.generation)
        }
    }

    /// Lays a second uplink with a default route that is as good as the first.
    private func appendDefault(_ family: IPAddress.Family, _ network: TestNetwork) throws {
        try network.connectSecondUplink()
        switch family {
        case .ipv4: try network.device.ip("route append default via 198.51.100.1")
        case .ipv6:
            try network.device.batch([
                "addr add 2001:db8:2::10/64 dev eth1 nodad", "route append default via 2001:db8:2::1 dev eth1",
            ])
        }
    }

    private func router(_ family: IPAddress.Family, on interface: String) -> String {
        switch family {
        case .ipv4: interface == "eth0" ? "192.0.2.1" : "198.51.100.1"
        case .ipv6: interface == "eth0" ? "2001:db8:1::1" : "2001:db8:2::1"
        }
    }

    private let secondDefault: @Sendable (TestNetwork) throws -> Void = { network in
        try network.connectSecondUplink()
        try network.device.ip("route add default via 198.51.100.1 metric 700")
    }
}

/// What carries a tunnel.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct TunnelScenarios {
    @Test func theDriverKnowsTheFarEnd() async throws {
        try await withScenario(
            from: .ipv4, configuration: .prompt, setUp: { try $0.connectSecondUplink() }
        ) { scenario in
            try scenario.host.batch([
                "link add vx0 type vxlan id 7 remote 192.0.2.1 dstport 4789", "addr add 10.7.0.2/24 dev vx0",
                "link set vx0 up", "route replace default via 10.7.0.1",
            ])
            let path = try await scenario.handover { $0.ipv4.interface == "vx0" }
            let tunnel = try #require(path.primaryInterface)
            #expect(tunnel.kind == .tunnel)
            #expect(tunnel.underlying?.endpoint == IPAddress("192.0.2.1"))
            #expect(tunnel.underlying?.path.interface == "eth0")
            #expect(tunnel.underlying?.path.source == IPAddress("192.0.2.10"))
            #expect(tunnel.underlying?.kind == .ethernet)
            try scenario.host.ip("route add 192.0.2.1/32 via 198.51.100.1")
            let moved = try await scenario.handover { $0.primaryInterface?.underlying?.path.interface == "eth1" }
            #expect(moved.ipv4.interface == "vx0")
        }
    }

    @Test func theOnlyOtherWayOutCarriesAVPN() async throws {
        try await withScenario(from: .ipv4, configuration: .prompt) { scenario in
            let tunnel = try await Tunnel(named: "tun0", on: scenario.loop)
            defer { tunnel.close() }
            try scenario.host.batch([
                "addr add 10.8.0.2/24 dev tun0", "link set tun0 up", "route add 192.0.2.99/32 dev eth0",
                "route add 0.0.0.0/1 dev tun0", "route add 128.0.0.0/1 dev tun0",
            ])
            let path = try await scenario.handover {
                $0.ipv4.interface == "tun0" && $0.primaryInterface?.underlying != nil
            }
            #expect(path.primaryInterface?.underlying?.endpoint == nil)
            #expect(path.primaryInterface?.underlying?.path.interface == "eth0")
            #expect(path.primaryInterface?.underlying?.path.gateway == IPAddress("192.0.2.1"))
            #expect(path.description.contains("tunnel over eth0"))
            try scenario.network.cableOut()
            let uncarried = try await scenario.path { $0.primaryInterface?.underlying == nil }
            #expect(uncarried.ipv4.interface == "tun0")  // the kernel sends into it all the same
        }
    }

    @Test func twoPossibleCarriersAreNoAnswerButAProgramMayKnow() async throws {
        try await withScenario(
            from: .ipv4,
            setUp: {
                try $0.connectSecondUplink()
                try $0.device.ip("route add default via 198.51.100.1 metric 700")
            }
        ) { scenario in
            let tunnel = try await Tunnel(named: "tun0", on: scenario.loop)
            defer { tunnel.close() }
            var knowing = LinuxNetworkMonitor.Configuration()
            let endpoint = try #require(IPAddress("198.51.100.77"))
            knowing.hints = { interface in
                InterfaceHints(
                    isMetered: interface.name == "eth1" ? true : nil,
                    tunnelEndpoint: interface.name == "tun0" ? endpoint : nil)
            }
            let monitor = LinuxNetworkMonitor(on: scenario.loop, configuration: knowing)
            try await scenario.watching(monitor) { knowing in
                try scenario.host.batch([
                    "addr add 10.8.0.2/24 dev tun0", "link set tun0 up", "route add 0.0.0.0/1 dev tun0",
                    "route add 128.0.0.0/1 dev tun0",
                ])
                let known = try await knowing.path { $0.ipv4.interface == "tun0" }
                #expect(known.primaryInterface?.underlying?.endpoint == endpoint)
                #expect(known.primaryInterface?.underlying?.path.interface == "eth1")
                #expect(known.isExpensive)
                #expect(known.primaryInterface?.isMetered == true)
            }
            let path = try await scenario.reach { $0.ipv4.interface == "tun0" }
            #expect(path.primaryInterface?.underlying == nil)
            #expect(!path.isExpensive)
        }
    }

    /// A VPN whose interface looks like any Ethernet: only the program knows it.
    @Test func whatCarriesABridgedVPNIsAsExpensive() async throws {
        try await withScenario(from: .ipv4) { scenario in
            let tunnel = try await Tunnel(named: "tap0", .link, on: scenario.loop)
            defer { tunnel.close() }
            try scenario.host.batch([
                "addr add 10.8.0.2/24 dev tap0", "link set tap0 up", "route add 0.0.0.0/1 via 10.8.0.1",
                "route add 128.0.0.0/1 via 10.8.0.1",
            ])
            let path = try await scenario.path { $0.ipv4.interface == "tap0" }
            #expect(path.primaryInterface?.underlying == nil)
            var knowing = LinuxNetworkMonitor.Configuration()
            let endpoint = try #require(IPAddress("192.0.2.99"))
            knowing.hints = { interface in
                interface.name == "tap0"
                    ? InterfaceHints(tunnelEndpoint: endpoint) : InterfaceHints(isMetered: true, isConstrained: true)
            }
            try await scenario.watching(LinuxNetworkMonitor(on: scenario.loop, configuration: knowing)) {
                let known = try #require(await $0.observer.latest)
                #expect(known.primaryInterface?.name == "tap0")
                #expect(known.primaryInterface?.underlying?.endpoint == endpoint)
                #expect(known.primaryInterface?.underlying?.path.interface == "eth0")
                #expect(known.isExpensive && known.isConstrained)
            }
        }
    }

    @Test func aProgramKnowsWhatANetworkCosts() async throws {
        try await withScenario(from: .ipv4) { scenario in
            var configuration = LinuxNetworkMonitor.Configuration()
            configuration.hints = { InterfaceHints(isMetered: $0.name == "eth0", isConstrained: $0.kind == .ethernet) }
            try await scenario.watching(LinuxNetworkMonitor(on: scenario.loop, configuration: configuration)) {
                let path = try #require(await $0.observer.latest)
                #expect(path.isExpensive && path.isConstrained)
                #expect(path.primaryInterface?.isMetered == true)
            }
            #expect(await scenario.observer.latest?.isExpensive == false)
        }
    }
}
