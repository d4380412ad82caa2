// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkTesting

@testable import UplinkMonitor

/// A monitor that is refused netlink and may poll, in a namespace whose network comes and goes.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(3)), .needsNetworkNamespaces)
struct PollingTests {
    @Test(arguments: [EAFNOSUPPORT, EPERM])
    func thePathIsToldAndFlagged(errno: CInt) async throws {
        let configuration = try LinuxNetworkMonitor.Configuration(whenUnavailable: .poll(every: .milliseconds(100)))
        try await withScenario(configuration: configuration, refusing: .netlinkSocket, with: errno) { scenario in
            let first = try #require(await scenario.observer.latest)
            #expect(first.unsatisfiedReason == .noInterface && !first.isAuthoritative)
            try scenario.network.connect()
            try scenario.network.addIPv4()
            let online = try await scenario.path { $0.isSatisfied }
            #expect(!online.isAuthoritative)
            #expect(online.ipv4.interface == "eth0" && online.ipv4.gateway == IPAddress("192.0.2.1"))
            #expect(online.ipv4.source == IPAddress("192.0.2.10"))
            #expect(!online.ipv6.isAvailable)
            try scenario.host.ip("route del default")
            let offline = try await scenario.path { !$0.isSatisfied }
            #expect(offline.unsatisfiedReason == .noRoute)
            try scenario.network.addIPv6()
            let ipv6 = try await scenario.path { $0.ipv6.isAvailable }
            #expect(ipv6.ipv6.gateway == IPAddress("2001:db8:1::1"))
            let statistics = await scenario.monitor.statistics
            #expect(statistics.polls > 3 && statistics.evaluations == 0)
        }
    }

    @Test func blockedRoutesAndDeadLinksAreTold() async throws {
        let configuration = try LinuxNetworkMonitor.Configuration(whenUnavailable: .poll(every: .milliseconds(100)))
        try await withScenario(from: .ipv4, configuration: configuration, refusing: .netlinkSocket) { scenario in
            try scenario.host.ip("route replace blackhole default")
            try await scenario.path { $0.unsatisfiedReason == .blocked }
            try scenario.host.ip("route del blackhole default")
            try scenario.host.ip("route add default via 192.0.2.1")
            try await scenario.path { $0.isSatisfied }
            try scenario.router.ip("link set r0 down")
            try await scenario.path { $0.unsatisfiedReason == .linkDown }
        }
    }

    @Test func withoutAnySocketTheTablesDecideAndDoubtIsInFavour() async throws {
        let configuration = try LinuxNetworkMonitor.Configuration(whenUnavailable: .poll(every: .milliseconds(100)))
        try await withScenario(configuration: configuration, refusing: .socket) { scenario in
            try scenario.network.connect()
            try scenario.network.addIPv4()
            let path = try await scenario.path { $0.isSatisfied }
            #expect(!path.isAuthoritative)
        }
    }

    @Test func nothingSpins() async throws {
        let configuration = try LinuxNetworkMonitor.Configuration(whenUnavailable: .poll(every: .seconds(3600)))
        try await withScenario(configuration: configuration, refusing: .netlinkSocket) { scenario in
            // Real time, because that is what would be wasted.
            try await Task.sleep(for: .milliseconds(300))
            #expect(await scenario.monitor.statistics.polls == 1)
        }
    }

    /// It may have begun before what there is to see.
    @Test func whoAsksDuringAReadingGetsAnother() async throws {
        let configuration = try LinuxNetworkMonitor.Configuration(whenUnavailable: .poll(every: .seconds(3600)))
        try await withScenario(configuration: configuration, refusing: .netlinkSocket) { scenario in
            await scenario.monitor.watcher.pollTwice()
            try await eventually("it has read twice more") { await scenario.monitor.statistics.polls == 3 }
        }
    }

    @Test func connectionsOwnersAreToldToo() async throws {
        let configuration = try LinuxNetworkMonitor.Configuration(whenUnavailable: .poll(every: .milliseconds(100)))
        try await withScenario(from: .ipv4, configuration: configuration, refusing: .netlinkSocket) { scenario in
            var changes = scenario.monitor.changes.makeAsyncIterator()
            await onLoop(scenario.loop) {}  // the subscription has been noticed
            try scenario.host.ip("addr del 192.0.2.10/24 dev eth0")
            let own = try #require(IPAddress("192.0.2.10"))
            let change = try await changes.next()
            #expect(change == NetworkChange(removedAddresses: [own], changedDefaultRoutes: [.ipv4]))
        }
    }

    @Test func cyclesOfSubscriptionsLeaveNoDescriptor() async throws {
        let configuration = try LinuxNetworkMonitor.Configuration(whenUnavailable: .poll(every: .seconds(60)))
        try await withEventLoop { loop in
            try #require(await onLoop(loop) { Sandbox.refuse(.netlinkSocket, with: EPERM) })
            let monitor = LinuxNetworkMonitor(on: loop, configuration: configuration)
            for try await _ in monitor.paths { break }
            try await eventually("the monitor rests") { monitor.currentPath == nil }
            let before = Census().descriptors
            for _ in 0..<50 {
                for try await _ in monitor.paths { break }
                try await eventually("the monitor rests") { monitor.currentPath == nil }
            }
            try await eventually("no descriptor is left") { Census().descriptors <= before }
            #expect(await monitor.statistics.polls >= 51)
        }
    }

    @Test func streamsThatOutliveTheLoopEndWithAnError() async throws {
        let configuration = try LinuxNetworkMonitor.Configuration(whenUnavailable: .poll(every: .milliseconds(100)))
        let iteration = try await withEventLoop { loop in
            try #require(await onLoop(loop) { Sandbox.refuse(.netlinkSocket, with: EPERM) })
            let monitor = LinuxNetworkMonitor(on: loop, configuration: configuration)
            let hasBegun = Locked(false)
            let iteration = Task { for try await _ in monitor.paths { hasBegun.withLock { $0 = true } } }
            try await eventually("a path is told") { hasBegun.withLock { $0 } }
            return iteration
        }
        let error = await #expect(throws: NetworkMonitorError.self) { try await iteration.value }
        #expect(error?.message.contains("loop has ended") == true)
    }

    @Test func aWantOfDescriptorsIsAnErrorAllTheSame() async throws {
        let configuration = try LinuxNetworkMonitor.Configuration(whenUnavailable: .poll(every: .milliseconds(100)))
        try await withEventLoop { loop in
            try #require(await onLoop(loop) { Sandbox.refuse(.netlinkSocket, with: EMFILE) })
            let monitor = LinuxNetworkMonitor(on: loop, configuration: configuration)
            let error = await #expect(throws: NetworkMonitorError.self) { for try await _ in monitor.paths {} }
            #expect(error?.code == .unavailable && error?.message.contains("ulimit -n") == true)
            #expect(await monitor.statistics.polls == 0)
        }
    }

    @Test func nobodyPollsOnBehalfOfOtherSockets() async throws {
        var configuration = try LinuxNetworkMonitor.Configuration(whenUnavailable: .poll(every: .milliseconds(100)))
        configuration.outputInterface = "eth0"
        try await withEventLoop { [configuration] loop in
            try #require(await onLoop(loop) { Sandbox.refuse(.netlinkSocket, with: EPERM) })
            let monitor = LinuxNetworkMonitor(on: loop, configuration: configuration)
            let error = await #expect(throws: NetworkMonitorError.self) { for try await _ in monitor.paths { break } }
            #expect(error?.code == .unavailable && error?.message.contains("outputInterface") == true)
        }
    }

    @Test func netlinkThatIsRefusedLaterIsNoEndEither() async throws {
        let configuration = try LinuxNetworkMonitor.Configuration(whenUnavailable: .poll(every: .milliseconds(100)))
        try await withScenario(from: .ipv4, configuration: configuration) { scenario in
            #expect(await scenario.observer.latest?.isAuthoritative == true)
            try #require(await onLoop(scenario.loop) { Sandbox.refuse(.recvmsg, with: EACCES) })
            await scenario.monitor.watcher.readNow()
            let path = try await scenario.path { !$0.isAuthoritative }
            #expect(path.isSatisfied)
        }
    }
}

extension PathWatcher {
    fileprivate func pollTwice() {
        poll()
        poll()
    }
}
