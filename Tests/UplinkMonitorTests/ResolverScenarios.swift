// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkTesting

@testable import UplinkMonitor

/// The name servers of a path, as their file and their routes change.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct ResolverScenarios {
    @Test func theFirstPathHasThem() async throws {
        try await withResolverFile("nameserver 192.0.2.53\nnameserver 10.9.9.9\nnameserver 2001:db8::53\n") {
            scenario, _ in
            // The first path waits for them for 100 milliseconds, which are over soon on a busy machine.
            let path = try await scenario.reach { !$0.dns.resolvers.isEmpty }
            #expect(path.generation == 1 || !Timing.isExact)
            #expect(path.dns.resolvers.map(\.address.description) == ["192.0.2.53", "10.9.9.9", "2001:db8::53"])
            #expect(path.dns.resolvers.map(\.hasRoute) == [true, true, false])
            #expect(path.dns.isReachable)
        }
    }

    /// The first path waits for the file, also where all of libuv's threads are busy; changes do not.
    @Test func changesAreToldBeforeTheFileIsRead() async throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { close(reader) }
        try await withTestNetwork(.ipv4) { network in
            try network.device.ip("addr add 192.0.2.77/24 dev eth0")
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                defer { close(writer) }  // ends all the work
                await onLoop(loop) {
                    for _ in 0..<Self.mostThreads {
                        loop.offLoop({
                            var byte: UInt8 = 0
                            return read(reader, &byte, 1)
                        }) { _ in }
                    }
                }
                let monitor = LinuxNetworkMonitor(on: loop)
                var changes = monitor.changes.makeAsyncIterator()
                await onLoop(loop) {}  // the subscription has been noticed
                try network.device.ip("addr del 192.0.2.77/24 dev eth0")
                try await eventually("a path is known") { monitor.currentPath != nil }
                try network.device.ip("route replace default via 192.0.2.254")  // ends the wait in any case
                let change = try await changes.next()
                #expect(change?.removedAddresses == IPAddress("192.0.2.77").map { [$0] })
            }
        }
    }

    /// The most that libuv's pool may have (`UV_THREADPOOL_SIZE`).
    private static let mostThreads = 1024

    @Test func aRouteToOneOfThemIsTold() async throws {
        try await withResolverFile("nameserver 10.9.9.9\n", configuration: .prompt) { scenario, _ in
            try scenario.host.ip("route add unreachable 10.9.9.9/32")  // the kernel's filter lets it through
            let unreachable = try await scenario.handover { !$0.dns.isReachable }
            #expect(unreachable.dns.resolvers.count == 1)
            try scenario.host.ip("route del unreachable 10.9.9.9/32")
            try await scenario.handover { $0.dns.isReachable }
        }
    }

    /// Programs ask name servers in datagrams.
    @Test func aRuleForDatagramsKeepsThemAway() async throws {
        try await withResolverFile("nameserver 192.0.2.53\n", configuration: .prompt) { scenario, _ in
            try scenario.host.ip("rule add ipproto udp unreachable")
            let path = try await scenario.handover { !$0.dns.isReachable }
            #expect(path.dns.resolvers.map(\.hasRoute) == [false])
        }
    }

    /// IPv6 routes end by themselves, which no message tells (ip-route(8), `expires`).
    @Test func theRouteToOneOfThemExpires() async throws {
        try await withResolverFile("nameserver 2001:db8:77::53\n", configuration: .prompt) { scenario, _ in
            try scenario.host.ip("-6 addr add 2001:db8:1::2/64 dev eth0 nodad")
            try scenario.host.ip("-6 route add 2001:db8:77::/48 via 2001:db8:1::1 dev eth0 expires 2")
            try await scenario.reach { $0.dns.isReachable }
            let start = ContinuousClock.now
            try await scenario.reach { !$0.dns.isReachable }
            #expect(start.duration(to: .now) < .seconds(15) || !Timing.isExact)
        }
    }

    @Test func aReplacedFileIsTold() async throws {
        try await withResolverFile("nameserver 192.0.2.53\n", configuration: .prompt) { scenario, directory in
            try directory.write("new", Array("nameserver 192.0.2.54\n".utf8))
            let path = directory.path.string
            #expect(rename(path + "/new", path + "/resolv.conf") == 0)
            try await scenario.handover { $0.dns.resolvers.first?.address == IPAddress("192.0.2.54") }
            try directory.write("resolv.conf", Array("nameserver 127.0.0.53\n".utf8))
            let local = try await scenario.handover { $0.dns.resolvers.first?.address.isLoopback == true }
            #expect(local.dns.isReachable)
            #expect(unlink(path + "/resolv.conf") == 0)
            try await scenario.handover { $0.dns.resolvers.isEmpty }
        }
    }

    @Test func theSameNameServersInAnotherTextTellNothing() async throws {
        try await withResolverFile("nameserver 192.0.2.53\n") { scenario, directory in
            try await scenario.expectNoUpdates {
                for number in 0..<10 {
                    try directory.write("new", Array("# \(number)\nnameserver 192.0.2.53\n".utf8))
                    #expect(rename(directory.path.string + "/new", directory.path.string + "/resolv.conf") == 0)
                }
            }
        }
    }

    @Test func aNameServerOnALinkNeedsThatLink() async throws {
        try await withResolverFile("nameserver fe80::1%eth0\nnameserver fe80::1%eth7\n") { scenario, _ in
            let path = try await scenario.reach { $0.dns.isReachable }
            #expect(path.dns.resolvers.map(\.zone) == ["eth0", "eth7"])
            #expect(path.dns.resolvers.map(\.hasRoute) == [true, false])
        }
    }

    @Test func aPipeHoldsNothingUp() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        #expect(mkfifo(directory.path.string + "/resolv.conf", 0o600) == 0)
        try await withScenario(from: .ipv4, configuration: reading(directory)) { scenario in
            let path = try #require(await scenario.observer.latest)
            #expect(path.isSatisfied)
            #expect(path.dns.resolvers.isEmpty)
        }
    }

    @Test func noFileIsNoNameServer() async throws {
        var configuration = LinuxNetworkMonitor.Configuration()
        configuration.resolverFile = nil
        try await withScenario(from: .ipv4, configuration: configuration) { scenario in
            #expect(await scenario.observer.latest?.dns.resolvers.isEmpty == true)
        }
    }

    private func reading(
        _ directory: TemporaryDirectory, _ configuration: LinuxNetworkMonitor.Configuration = .init()
    ) -> LinuxNetworkMonitor.Configuration {
        var configuration = configuration
        configuration.resolverFile = directory.path.string + "/resolv.conf"
        return configuration
    }

    private func withResolverFile(
        _ text: String, configuration: LinuxNetworkMonitor.Configuration = .init(),
        _ body: (Scenario, TemporaryDirectory) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("resolv.conf", Array(text.utf8))
        try await withScenario(from: .ipv4, configuration: reading(directory, configuration)) { scenario in
            try await body(scenario, directory)
        }
    }
}
