// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkTesting

@testable import UplinkMonitor

/// The path to one address, in a real kernel.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct DestinationScenarios {
    @Test func thisHostNeedsItsLoopbackAlone() async throws {
        try await withScenario { scenario in
            try await scenario.watching("127.0.0.1") { scenario in
                #expect(await scenario.observer.latest?.unsatisfiedReason == .noInterface)
                try scenario.host.ip("link set lo up")
                let path = try await scenario.path { $0.isSatisfied }
                #expect(path.primaryInterface?.name == "lo")
                #expect(path.primaryInterface?.kind == .loopback)
                #expect(path.scope == .host)
                #expect(path.ipv6 == .notAsked)
            }
            try await scenario.watching("::1") { scenario in
                #expect(await scenario.observer.latest?.ipv6.isAvailable == true)
                try scenario.host.ip("link set lo down")
                try await scenario.path { !$0.isSatisfied }
            }
        }
    }

    @Test(arguments: ["192.0.2.77", "::ffff:192.0.2.77"])
    func aNeighbourNeedsNoDefaultRoute(address: String) async throws {
        try await withScenario(from: .connected) { scenario in
            try await scenario.watching(address) { scenario in
                try await scenario.reach { $0.unsatisfiedReason == .noAddress }
                try scenario.host.ip("addr add 192.0.2.10/24 dev eth0")
                let path = try await scenario.path { $0.isSatisfied }
                #expect(path.ipv4.interface == "eth0")
                #expect(path.ipv4.gateway == nil)
                #expect(path.ipv4.source == IPAddress("192.0.2.10"))
                #expect(path.scope == .site)
                #expect(path.interfaces.map(\.name) == ["eth0"])
                #expect(path.ipv6 == .notAsked)
                try scenario.network.cableOut()
                let lost = try await scenario.path { !$0.isSatisfied }
                #expect(lost.unsatisfiedReason == .linkDown)
                #expect(lost.ipv6 == .notAsked)
            }
        }
    }

    /// The prefix length of a point-to-point address is its peer's.
    @Test func aPeerIsANeighbour() async throws {
        try await withScenario(
            from: .connected, setUp: { try $0.device.ip("addr add 203.0.113.1 peer 198.18.0.7/32 dev eth0") }
        ) { scenario in
            try await scenario.watching("198.18.0.7") { scenario in
                let path = try #require(await scenario.observer.latest)
                #expect(path.isSatisfied && path.scope == .site)
            }
        }
    }

    @Test(arguments: ["10.0.0.0/8", "10.1.2.0/24", "10.1.2.3/32", "default"])
    func aRouteToItMakesItReachable(prefix: String) async throws {
        try await withScenario(from: .connected, setUp: { try $0.device.ip("addr add 192.0.2.10/24 dev eth0") }) {
            scenario in
            try await scenario.watching("10.1.2.3") { scenario in
                #expect(await scenario.observer.latest?.unsatisfiedReason == .noRoute)
                for _ in 0..<3 {
                    try scenario.host.ip("route add \(prefix) via 192.0.2.1")
                    let path = try await scenario.path { $0.isSatisfied }
                    #expect(path.ipv4.gateway == IPAddress("192.0.2.1"))
                    #expect(path.scope == .site)
                    try scenario.host.ip("route del \(prefix) via 192.0.2.1")
                    let lost = try await scenario.path { !$0.isSatisfied }
                    #expect(lost.unsatisfiedReason == .noRoute)
                }
            }
        }
    }

    @Test func anIPv6RouteForASourceAloneLeadsToIt() async throws {
        try await withScenario(
            from: .connected, setUp: { try $0.device.ip("-6 addr add 2001:db8:1::10/64 dev eth0 nodad") }
        ) { scenario in
            try await scenario.watching("2001:db8:77::7") { scenario in
                #expect(await scenario.observer.latest?.unsatisfiedReason == .noRoute)
                let route = "2001:db8:77::/48 from 2001:db8:1::/64"
                try scenario.host.ip("-6 route add \(route) via 2001:db8:1::1 dev eth0")
                let path = try await scenario.path { $0.isSatisfied }
                #expect(path.ipv6.source == IPAddress("2001:db8:1::10"))
                try scenario.host.ip("-6 route del \(route)")
                try await scenario.path { !$0.isSatisfied }
            }
        }
    }

    @Test func aHostRouteMayForbidIt() async throws {
        try await withScenario(from: .ipv4) { scenario in
            try await scenario.watching("203.0.113.7") { scenario in
                let path = try #require(await scenario.observer.latest)
                #expect(path.isSatisfied)
                #expect(path.scope == .global)
                try scenario.host.ip("route add unreachable 203.0.113.7/32")
                let lost = try await scenario.path { !$0.isSatisfied }
                #expect(lost.unsatisfiedReason == .blocked)
                try scenario.host.ip("route del unreachable 203.0.113.7/32")
                try await scenario.path { $0.isSatisfied }
            }
            #expect(await scenario.observer.count == 1)  // the internet was there all the while
        }
    }

    @Test func anOwnAddressIsThisHost() async throws {
        try await withScenario(from: .connected) { scenario in
            try await scenario.watching("192.0.2.10") { scenario in
                try scenario.host.ip("addr add 192.0.2.10/24 dev eth0")
                let path = try await scenario.path { $0.isSatisfied }
                #expect(path.scope == .host)
                #expect(path.primaryInterface?.name == "lo")
                try scenario.host.ip("addr del 192.0.2.10/24 dev eth0")
                try await scenario.path { !$0.isSatisfied }
            }
        }
    }

    /// The kernel leads there through the loopback, also where the socket is bound to the link that has the address.
    @Test func anOwnAddressOnALinkIsThisHost() async throws {
        try await withScenario(from: .connected) { scenario in
            try await scenario.watching("fe80::10%eth0") { scenario in
                try scenario.host.ip("addr add fe80::10/64 dev eth0 nodad")
                let path = try await scenario.path { $0.isSatisfied }
                #expect(path.scope == .host)
                #expect(path.primaryInterface?.name == "lo")
                try scenario.host.ip("addr del fe80::10/64 dev eth0")
                try await scenario.path { !$0.isSatisfied }
            }
        }
    }

    @Test(arguments: ["eth0", "40"]) func aLinkLocalAddressIsOnItsLink(zone: String) async throws {
        try await withScenario(from: .connected) { scenario in
            try await scenario.watching("fe80::1%\(zone)") { scenario in
                let path = try await scenario.reach { $0.isSatisfied }
                #expect(path.scope == .link)
                #expect(path.ipv6.interface == "eth0")
                #expect(path.ipv6.source?.isLinkLocal == true)
                try scenario.host.ip("link del eth0")
                let lost = try await scenario.path { !$0.isSatisfied }
                #expect(lost.unsatisfiedReason == .noInterface)
            }
        }
    }

    @Test func aBroadcastAddressIsNoHost() async throws {
        try await withScenario(from: .ipv4) { scenario in
            try await scenario.watching("192.0.2.255") { scenario in
                #expect(await scenario.observer.latest?.unsatisfiedReason == .noRoute)
            }
        }
    }

    @Test func routesToOtherPlacesWakeNobody() async throws {
        try await withScenario(from: .ipv4) { scenario in
            try await scenario.watching("10.1.2.3") { scenario in
                let before = await scenario.monitor.statistics
                try scenario.host.batch((0..<250).map { "route add 10.200.\($0).0/24 via 192.0.2.1" })
                try scenario.host.ip("route add blackhole 10.1.2.3/32")
                try await scenario.path { $0.unsatisfiedReason == .blocked }
                let after = await scenario.monitor.statistics
                #expect(after.messages == before.messages + 1)
                #expect(after.evaluations == before.evaluations + 1)
            }
        }
    }

    @Test func aPerformerWaitsForADestination() async throws {
        try await withScenario(from: .connected, setUp: { try $0.device.ip("addr add 192.0.2.10/24 dev eth0") }) {
            scenario in
            let performer = NetworkOperationPerformer(monitor: try scenario.monitor.destination("10.1.2.3"))
            let host = scenario.host
            let coming = Task {
                try await eventually("the call waits") { performer.statistics.waiting == 1 }
                try host.ip("route add 10.0.0.0/8 via 192.0.2.1")
            }
            let answer = try await performer.perform(within: .seconds(20)) { 42 }
            #expect(answer == 42)
            try await coming.value
        }
    }

    @Test func whatIsNoHostIsAnError() async throws {
        try await withEventLoop { loop in
            let monitor = LinuxNetworkMonitor(on: loop)
            for text in [
                "0.0.0.0", "::", "224.0.0.1", "255.255.255.255", "ff02::1", "fe80::1", "fe80::1%", "example.com", "",
                "192.0.2.1/24", "::ffff:0.0.0.0", "::ffff:224.0.0.1",
            ] {
                let error = #expect(throws: NetworkMonitorError.self) { try monitor.destination(text) }
                #expect(error?.code == .invalidConfiguration)
                #expect(error?.message.isEmpty == false)
            }
            let address = try #require(IPAddress("fe80::1"))
            #expect(throws: NetworkMonitorError.self) { try monitor.destination(address) }
            _ = try monitor.destination(address, zone: "eth0")
            _ = try monitor.destination("169.254.1.1")
        }
    }
}

extension Scenario {
    /// The same network as the monitor of one address tells it; has told its first path when `body` begins.
    nonisolated(nonsending) func watching(
        _ destination: String, _ body: nonisolated(nonsending) (Scenario) async throws -> Void
    ) async throws { try await watching(monitor.destination(destination), body) }

    /// The same network as another monitor tells it.
    nonisolated(nonsending) func watching(
        _ monitor: LinuxNetworkMonitor, _ body: nonisolated(nonsending) (Scenario) async throws -> Void
    ) async throws {
        let observer = PathObserver()
        try await FrontEnd.library.observing(network, monitor, observer) {
            _ = try await observer.first { _ in true }
            try await body(Scenario(network: network, observer: observer, monitor: monitor, loop: loop))
        }
    }
}
