// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkTesting

@testable import UplinkMonitor

/// Monitors that come, go, sleep and are watched by many, while the network does what it likes.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct LifeScenarios {
    @Test(arguments: FrontEnd.allCases, TestNetwork.Beginning.allCases)
    func theFirstPathIsTheNetworkAsItIs(on frontEnd: FrontEnd, beginning: TestNetwork.Beginning) async throws {
        try await withScenario(on: frontEnd, from: beginning) { scenario in
            let path = try #require(await scenario.observer.latest)
            let isOnline = [.ipv4, .ipv6, .dualStack].contains(beginning)
            #expect(path.isSatisfied == isOnline)
            #expect(path.ipv4.isAvailable == [.ipv4, .dualStack].contains(beginning))
            #expect(path.ipv6.isAvailable == [.ipv6, .dualStack].contains(beginning))
            #expect(path.scope == .global || !isOnline)
        }
    }

    @Test func aProgramThatWasStoppedKnowsWhatItMissed() async throws {
        try await withTestNetwork { network in
            let program = try BuiltProgram.start("watch --json", in: network.device)
            try await program.waitForOutput("\n")
            for isOnline in [false, true, false] {
                program.signal(SIGSTOP)
                if isOnline { try network.goOnline() }
                try network.device.batch(churn(20_000))
                if !isOnline { try network.goOffline() }
                let count = Self.lines(program).count
                program.signal(SIGCONT)
                try await eventually("\(isOnline) after \(program.output)") {
                    let lines = Self.lines(program)
                    return lines.count > count
                        && lines.last?.contains("\"status\":\"\(isOnline ? "" : "un")satisfied\"") == true
                }
                #expect(Self.lines(program).count == count + 1)
            }
            program.signal(SIGTERM)
            try await program.wait()
        }
    }

    @Test func aMonitorThatRestedKnowsWhatItMissed() async throws {
        try await withTestNetwork { network in
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                let monitor = LinuxNetworkMonitor(on: loop)
                for isOnline in [true, false, true] {
                    if isOnline { try network.goOnline() } else { try network.goOffline() }
                    for try await path in monitor.paths {
                        #expect(path.isSatisfied == isOnline)
                        break
                    }
                    await onLoop(loop) {}  // it rests
                }
            }
        }
    }

    @Test func aSlowSubscriberGetsTheNewestPathAlone() async throws {
        try await withScenario(from: .ipv4, configuration: .prompt) { scenario in
            var slow = scenario.monitor.paths.makeAsyncIterator()
            _ = try await slow.next()
            for last in 2..<30 { try scenario.host.ip("route replace default via 192.0.2.\(last)") }
            try await scenario.path { $0.ipv4.gateway == IPAddress("192.0.2.29") }
            let path = try await slow.next()
            #expect(path?.ipv4.gateway == IPAddress("192.0.2.29"))
        }
    }

    @Test func subscribersThatLeaveInABurstTakeNothingFromTheOthers() async throws {
        try await withScenario(from: .ipv4, configuration: .prompt) { scenario in
            let monitor = scenario.monitor
            let leavers = (0..<50).map { number in
                Task { for try await path in monitor.paths where path.generation > number / 4 { break } }
            }
            try scenario.router.batch((0..<25).flatMap { _ in ["link set r0 down", "link set r0 up"] })
            for leaver in leavers { leaver.cancel() }
            for leaver in leavers { _ = await leaver.result }
            try scenario.host.ip("route replace default via 192.0.2.254")
            try await scenario.path { $0.isSatisfied && $0.ipv4.gateway == IPAddress("192.0.2.254") }
        }
    }

    @Test func aMonitorStaysInTheNamespaceThatItBeganIn() async throws {
        try await withScenario(from: .ipv4) { scenario in
            let path = scenario.router.path
            let status = await onLoop(scenario.loop) {
                let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                defer { close(descriptor) }
                return setns(descriptor)
            }
            #expect(status == 0)
            try scenario.network.goOffline()
            try await scenario.path { !$0.isSatisfied }
            try scenario.network.goOnline()
            let back = try await scenario.path { $0.isSatisfied }
            #expect(back.ipv4.interface == "eth0")
        }
    }

    @Test func twoMonitorsInTwoNamespacesSeeEachItsOwn() async throws {
        try await withScenario(from: .ipv4) { first in
            try await withScenario(from: .ipv4) { second in
                try first.network.goOffline()
                try await first.path { !$0.isSatisfied }
                try second.host.ip("route replace default via 192.0.2.254")
                let path = try await second.path { $0.ipv4.gateway != IPAddress("192.0.2.1") }
                #expect(path.isSatisfied)
                #expect(await second.observer.count == 2)
            }
        }
    }

    @Test func loopsEndWhileEventsAreOnTheirWay() async throws {
        try await withTestNetwork { network in
            let flapping = Task {
                while !Task.isCancelled {
                    try network.device.batch(churn(100) + ["link set eth0 down", "link set eth0 up"])
                }
            }
            for _ in 0..<30 {
                let observation = try await withEventLoop(networkNamespace: network.device.path) { loop in
                    let monitor = LinuxNetworkMonitor(on: loop)
                    var paths = monitor.paths.makeAsyncIterator()
                    _ = try await paths.next()
                    return Task { for try await _ in monitor.paths {} }
                }
                await #expect(throws: NetworkMonitorError.self) { try await observation.value }
            }
            flapping.cancel()
            try await flapping.value
        }
    }

    private static func lines(_ program: RunningProgram) -> [Substring] { program.output.split(separator: "\n") }
}

/// `setns(2)` for network namespaces, which glibc declares for _GNU_SOURCE only.
private func setns(_ descriptor: CInt) -> CInt {
    typealias Function = @convention(c) (CInt, CInt) -> CInt
    guard let symbol = dlsym(nil, "setns") else { return -1 }
    return unsafeBitCast(symbol, to: Function.self)(descriptor, 0x4000_0000)  // CLONE_NEWNET
}
