// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import Uplink
import UplinkTesting

/// The performer on the kernel's own word, in network namespaces. Real time, because the kernel has no other.
@Suite(
    .timeLimit(.minutes(1)), .undisturbed, .serialized,
    .needsNetworkNamespaces)
struct PerformerOnLinuxTests {
    /// A performer in a namespace that has a link and an address, and a default route when `goOnline` is called.
    private struct Host: Sendable {
        let performer: NetworkOperationPerformer
        let monitor: LinuxNetworkMonitor
        let loop: EventLoop
        let namespace: NetworkNamespace

        func goOnline() throws { try namespace.ip("route add default via 192.0.2.1") }
        func goOffline() throws { try namespace.ip("route del default") }

        /// Takes the link away, and with it the routes.
        func linkDown() throws { try namespace.ip("link set eth0 down") }
        /// Gives the link back, and a default route.
        func linkUp() throws { try namespace.batch(["link set eth0 up", "route add default via 192.0.2.1"]) }
    }

    private func withHost(_ body: @Sendable (Host) async throws -> Void) async throws {
        try await withNetworkNamespaces { host, router in
            try host.ip("link set lo up")
            try host.ip("link add eth0 index 40 type veth peer name r0 index 50 netns \(router.name)")
            try router.ip("link set r0 up")
            try host.ip("link set eth0 up")
            try host.ip("addr add 192.0.2.10/24 dev eth0")
            try await withEventLoop(networkNamespace: host.name) { loop in
                let monitor = LinuxNetworkMonitor(on: loop)
                let performer = NetworkOperationPerformer(monitor: monitor, clock: LoopClock(on: loop))
                try await body(Host(performer: performer, monitor: monitor, loop: loop, namespace: host))
                #expect(performer.census == PerformerCensus())
                monitor.stop()
            }
        }
    }

    /// The link comes after 300 ms of the second that the call has; on a machine that is busy it has more.
    @Test func aNetworkThatComesInTimeStartsTheOperationOnce() async throws {
        try await withHost { host in
            try host.linkDown()
            let runs = Locked(0)
            let limit = Timing.limit(.seconds(1), otherwise: .seconds(20))
            let most = Timing.slack(Timing.limit(.milliseconds(600), otherwise: .seconds(20)))
            let start = ContinuousClock.now
            async let value = host.performer.perform(within: limit) { runs.withLock { $0 += 1 } }
            try await Task.sleep(for: .milliseconds(300))
            #expect(runs.withLock { $0 } == 0)
            try host.linkUp()
            _ = try await value
            let time = ContinuousClock.now - start
            #expect(time >= .milliseconds(300) && time < most, "\(time)")
            #expect(runs.withLock { $0 } == 1)
        }
    }

    @Test func aNetworkThatComesTooLateStartsNothing() async throws {
        try await withHost { host in
            try host.linkDown()
            let runs = Locked(0)
            let most = Timing.slack(Timing.limit(.milliseconds(400), otherwise: .seconds(5)))
            let start = ContinuousClock.now
            let error = await #expect(throws: NetworkOperationError.self) {
                try await host.performer.perform(within: .milliseconds(200)) { runs.withLock { $0 += 1 } }
            }
            let time = ContinuousClock.now - start
            #expect(error?.code == .timedOut)
            #expect(time >= .milliseconds(200) && time < most, "\(time)")
            try host.linkUp()
            #expect(try await host.performer.perform(within: .seconds(20)) { "another" } == "another")
            #expect(runs.withLock { $0 } == 0)
        }
    }

    @Test func aNetworkThatIsThereIsFoundWithTimeoutZero() async throws {
        try await withHost { host in
            try host.goOnline()
            #expect(try await host.performer.perform(within: .zero) { "ran" } == "ran")
        }
    }

    @Test func awayWithTimeoutZeroItEndsBeforeAnyGrace() async throws {
        try await withHost { host in
            let start = ContinuousClock.now
            let result = await host.performer.perform(withinSeconds: 0) {}
            #expect(ContinuousClock.now - start < .milliseconds(90))
            guard case .failure(.notStarted(let error)) = result else {
                Issue.record("it ran without a network")
                return
            }
            #expect(error.code == .timedOut)
            #expect(error.message.contains("no route"))
        }
    }

    @Test func theTimeoutIsKept() async throws {
        try await withHost { host in
            let start = ContinuousClock.now
            await #expect(throws: NetworkOperationError.self) {
                try await host.performer.perform(within: .milliseconds(250)) {}
            }
            let took = ContinuousClock.now - start
            #expect(took >= .milliseconds(250) && took < .milliseconds(500), "\(took)")
        }
    }

    /// A cancelled sleep of one of Swift's clocks would hold its memory until its deadline.
    @Test func deadlinesOfEndedOperationsHoldNothing() async throws {
        await #expect(processExitsWith: .success) {
            try await withNetworkNamespaces { host, _ in
                try await withEventLoop(networkNamespace: host.name) { loop in
                    let performer = NetworkOperationPerformer(monitor: LinuxNetworkMonitor(on: loop))
                    let any = NetworkRequirement.predicate("any") { _ in true }
                    func perform(_ times: Int) async throws {
                        for _ in 0..<times {
                            try await performer.perform(completingWithin: .seconds(3600), requiring: any) {}
                        }
                    }
                    try await perform(1000)
                    let before = Memory.resident
                    try await perform(Timing.isInstrumented ? 2000 : 20_000)
                    let growth = Memory.resident - before
                    if !Timing.isInstrumented, growth >= 6 << 20 { exit(1) }
                }
            }
        }
    }

    @Test func cancellationIsPrompt() async throws {
        try await withHost { host in
            let call = Task { try await host.performer.perform(within: .seconds(3600)) {} }
            try await eventually("the call waits") { host.performer.statistics.waiting == 1 }
            let start = ContinuousClock.now
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
            #expect(ContinuousClock.now - start < .milliseconds(100))
        }
    }

    /// The monitor sees the network go and come again, and the operation, which may not care, has its own outcome.
    @Test func aFlapWhileItRunsDoesNotDisturbTheOperation() async throws {
        try await withHost { host in
            try host.goOnline()
            let runs = Locked(0)
            let seen = try await host.performer.perform(within: .seconds(20)) {
                runs.withLock { $0 += 1 }
                var paths = host.monitor.paths.makeAsyncIterator()
                /// Waits until the monitor says so. It may say more than once that all is well: first without name
                /// servers, whose file is read meanwhile.
                func hear(_ isSatisfied: Bool) async throws -> Bool {
                    while let path = try await paths.next() {
                        if path.isSatisfied == isSatisfied { return true }
                    }
                    return false
                }
                var seen = [try await hear(true)]
                try host.goOffline()
                seen.append(try await hear(false))
                try host.goOnline()
                seen.append(try await hear(true))
                try Task.checkCancellation()
                return seen
            }
            #expect(seen == [true, true, true])
            #expect(runs.withLock { $0 } == 1)
            #expect(host.performer.statistics.granted == 1)
        }
    }

    @Test func itsRequirementIsTheKernelsToMeet() async throws {
        try await withHost { host in
            try host.goOnline()
            async let value = host.performer.perform(within: .seconds(20), requiring: .ipv6) { "IPv6" }
            try await eventually("the call waits") { host.performer.statistics.waiting == 1 }
            try host.namespace.ip("-6 addr add 2001:db8:1::10/64 dev eth0 nodad")
            try host.namespace.ip("-6 route add default via 2001:db8:1::1")
            #expect(try await value == "IPv6")
        }
    }

    @Test func aWatchedNetworkStartsAnOperationWithoutASuspension() async throws {
        try await withHost { host in
            try host.goOnline()
            var paths = host.monitor.paths.makeAsyncIterator()
            #expect(try await paths.next()?.isSatisfied == true)
            let order = Locked<[String]>([])
            // On one thread, a task that does not suspend is not overtaken by one that was made before it.
            try await withTaskExecutorPreference(host.loop) {
                let other = Task(executorPreference: host.loop) { order.withLock { $0.append("other") } }
                try await host.performer.perform(within: .seconds(1)) { order.withLock { $0.append("operation") } }
                await other.value
            }
            #expect(order.withLock { $0 } == ["operation", "other"])
        }
    }
}
