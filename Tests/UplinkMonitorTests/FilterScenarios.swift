// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkTesting

@testable import UplinkMonitor

/// What the kernel tells and what it keeps to itself.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct FilterScenarios {
    @Test func routesThatDoNotMatterDoNotArrive() async throws {
        try await withScenario(from: .dualStack) { scenario in
            let before = await scenario.monitor.statistics
            try scenario.host.batch(
                (0..<5000).flatMap { index in
                    let (first, second) = (index / 250, index % 250)
                    return [
                        "route add 10.\(first).\(second).0/24 via 192.0.2.1",
                        "route add 2001:db8:\(first):\(second)::/64 via 2001:db8:1::1",
                    ]
                })
            try scenario.host.ip("route replace default via 192.0.2.254")
            try await scenario.path { $0.ipv4.gateway == IPAddress("192.0.2.254") }
            let after = await scenario.monitor.statistics
            #expect(after.messages == before.messages + 1)
            #expect(after.evaluations == before.evaluations + 1)
        }
    }

    @Test(arguments: [true, false]) func aHostRouteToAConfiguredProbeArrives(filter: Bool) async throws {
        let probe = try #require(IPAddress("203.0.113.9"))
        var configuration = try LinuxNetworkMonitor.Configuration(ipv4Probes: [probe])
        configuration.kernelFilter = filter
        try await withScenario(from: .ipv4, configuration: configuration) { scenario in
            try scenario.host.ip("route add blackhole 203.0.113.9/32")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost.unsatisfiedReason == .blocked)
            try scenario.host.ip("route del blackhole 203.0.113.9/32")
            try await scenario.path { $0.isSatisfied }
        }
    }

    @Test func withoutTheFilterTheSameIsTold() async throws {
        var configuration = try LinuxNetworkMonitor.Configuration(minimumInterval: .zero)
        configuration.kernelFilter = false
        try await withScenario(from: .ipv4, configuration: configuration) { scenario in
            try await scenario.expectNoUpdates {
                try scenario.host.batch((0..<500).map { "route add 10.0.\($0 / 250).\($0 % 250)/32 via 192.0.2.1" })
            }
            #expect(await scenario.monitor.statistics.messages >= 500)
            #expect(await scenario.monitor.statistics.evaluations < 10)
        }
    }

    /// IPv4 tells that an address is gone before it takes its routes away; with many routes that takes a while.
    @Test func aLostAddressIsSeenWhateverTheSizeOfTheTable() async throws {
        try await withScenario(
            from: .ipv4,
            setUp: { network in
                try network.silenceIPv6()
                let routes = (0..<20_000).map { "route add 10.\($0 / 250).\($0 % 250).0/24 via 192.0.2.1" }
                try network.device.batch(routes)
            }
        ) { scenario in
            for _ in 0..<5 {
                try scenario.host.ip("addr del 192.0.2.10/24 dev eth0")
                let lost = try await scenario.path { !$0.isSatisfied }
                #expect(lost.unsatisfiedReason == .noAddress)
                try scenario.network.goOnline()
                try await scenario.path { $0.isSatisfied }
            }
        }
    }
}
