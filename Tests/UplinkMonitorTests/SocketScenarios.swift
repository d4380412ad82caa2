// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import UplinkMonitor

/// The path as sockets with a mark, of a user, or bound to an interface have it.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct SocketScenarios {
    @Test func aMarkHasRulesOfItsOwn() async throws {
        try await withScenario(from: .ipv4, setUp: { try $0.connectSecondUplink() }) { scenario in
            try await scenario.watching(monitor(in: scenario) { $0.mark = 7 }) { marked in
                #expect(await marked.observer.latest?.ipv4.interface == "eth0")
                try scenario.host.batch(["route add default via 198.51.100.1 table 100", "rule add fwmark 7 table 100"])
                let path = try await marked.path { $0.ipv4.interface == "eth1" }
                #expect(path.ipv4.table == 100)
                try scenario.host.ip("rule add fwmark 7 pref 10 prohibit")
                let lost = try await marked.path { !$0.isSatisfied }
                #expect(lost.unsatisfiedReason == .blocked)
            }
            #expect(await scenario.observer.count == 1)
        }
    }

    @Test func aUserHasRulesOfItsOwn() async throws {
        try await withScenario(from: .ipv4) { scenario in
            try await scenario.watching(monitor(in: scenario) { $0.uid = 4242 }) { user in
                #expect(await user.observer.latest?.isSatisfied == true)
                try scenario.host.ip("rule add uidrange 4242-4242 prohibit")
                let lost = try await user.path { !$0.isSatisfied }
                #expect(lost.unsatisfiedReason == .blocked)
                try scenario.host.ip("rule del uidrange 4242-4242 prohibit")
                try await user.path { $0.isSatisfied }
            }
            #expect(await scenario.observer.count == 1)
        }
    }

    @Test func aBoundSocketHasThePathOfItsInterface() async throws {
        try await withScenario(from: .ipv4) { scenario in
            try await scenario.watching(monitor(in: scenario) { $0.outputInterface = "eth1" }) { bound in
                #expect(await bound.observer.latest?.unsatisfiedReason == .noInterface)
                try scenario.network.connectSecondUplink()
                try await bound.reach { $0.unsatisfiedReason == .noRoute }  // IPv4 would invent one on the link
                try scenario.host.ip("route add default via 198.51.100.1 metric 700")
                let path = try await bound.path { $0.isSatisfied }
                #expect(path.ipv4.interface == "eth1")
                #expect(path.ipv4.gateway == IPAddress("198.51.100.1"))
                #expect(path.ipv4.source == IPAddress("198.51.100.10"))
                #expect(path.interfaces.map(\.name) == ["eth1"])
                #expect(path.alternatives.isEmpty)
                try scenario.router.ip("link set r1 down")
                let lost = try await bound.path { !$0.isSatisfied }
                #expect(lost.unsatisfiedReason == .linkDown)
            }
        }
    }

    @Test func aNumberIsNoNameOfAnInterface() async throws {
        try await withScenario(from: .ipv4) { scenario in
            let index = try #require(await scenario.observer.latest?.primaryInterface?.index)
            try await scenario.watching(monitor(in: scenario) { $0.outputInterface = "\(index)" }) { bound in
                #expect(await bound.observer.latest?.unsatisfiedReason == .noInterface)
            }
        }
    }

    @Test func aBoundSocketReachesTheInternetPastADeadUplink() async throws {
        try await withScenario(
            from: .ipv4,
            setUp: {
                try $0.connectSecondUplink()
                try $0.device.ip("route add default via 198.51.100.1 metric 700")
            }
        ) { scenario in
            try await scenario.watching(monitor(in: scenario) { $0.outputInterface = "eth1" }) { bound in
                try scenario.network.cableOut()
                try await scenario.path { $0.unsatisfiedReason == .linkDown }
                #expect(await bound.observer.latest?.isSatisfied == true)
                #expect(await bound.observer.count == 1)
            }
        }
    }

    @Test func aBoundSocketHasItsLegOfARouteWithSeveral() async throws {
        try await withScenario(
            from: .ipv4,
            setUp: {
                try $0.connectSecondUplink()
                try $0.device.ip(
                    "route replace default nexthop via 192.0.2.1 dev eth0 nexthop via 198.51.100.1 dev eth1")
            }
        ) { scenario in
            try await scenario.watching(monitor(in: scenario) { $0.outputInterface = "eth1" }) { bound in
                let path = try await bound.reach { $0.isSatisfied }
                #expect(path.ipv4.interface == "eth1")
                #expect(path.ipv4.gateway == IPAddress("198.51.100.1"))
            }
        }
    }

    @Test func senselessSocketsAreErrors() async throws {
        let senseless: [(inout LinuxNetworkMonitor.Configuration) -> Void] = [
            { $0.uid = .max }, { $0.outputInterface = "" }, { $0.outputInterface = "an interface" },
            { $0.outputInterface = "sixteen-letters." }, { $0.outputInterface = "a/b" },
            { $0.outputInterface = "eth0:1" },
        ]
        try await withScenario { scenario in
            for change in senseless {
                let monitor = monitor(in: scenario, change)
                let error = await #expect(throws: NetworkMonitorError.self) { for try await _ in monitor.paths {} }
                #expect(error?.code == .invalidConfiguration)
            }
        }
    }

    @Test(arguments: [IPAddress.Family.ipv4, .ipv6])
    func anUnreachableRuleIsNotAMissingRoute(family: IPAddress.Family) async throws {
        let flag = family == .ipv4 ? "-4" : "-6"
        try await withScenario(from: family == .ipv4 ? .ipv4 : .ipv6) { scenario in
            try scenario.host.ip("\(flag) rule add unreachable pref 100")
            let blocked = try await scenario.path { !$0.isSatisfied }
            #expect(blocked[family].unsatisfiedReason == .blocked)
            #expect(blocked.unsatisfiedReason == .blocked)
            try scenario.host.ip("\(flag) rule del unreachable pref 100")
            try await scenario.path { $0.isSatisfied }
            try scenario.host.ip("\(flag) rule add uidrange 4242-4242 unreachable pref 100")  // for others
            try scenario.host.ip("\(flag) route del default")
            let lost = try await scenario.path { !$0.isSatisfied }
            #expect(lost[family].unsatisfiedReason == .noRoute)
        }
    }

    private func monitor(
        in scenario: Scenario, _ change: (inout LinuxNetworkMonitor.Configuration) -> Void
    ) -> LinuxNetworkMonitor {
        var configuration = LinuxNetworkMonitor.Configuration()
        configuration.resolverFile = nil
        change(&configuration)
        return LinuxNetworkMonitor(on: scenario.loop, configuration: configuration)
    }
}
