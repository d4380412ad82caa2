// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkTesting

@testable import UplinkMonitor

/// What the monitor does when very much happens, when lies are told, and when nothing happens at all.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)), .needsNetworkNamespaces)
struct OverloadScenarios {
    @Test(arguments: FrontEnd.allCases) func aFlappingLinkIsReportedAtTheIntervalsPace(
        on frontEnd: FrontEnd
    ) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            let start = ContinuousClock.now
            let commands = (0..<100).flatMap { _ in ["link set r0 down", "link set r0 up"] }
            try scenario.router.batch(commands)
            try scenario.host.ip("route replace default via 192.0.2.254")
            let path = try await scenario.path { $0.ipv4.gateway == IPAddress("192.0.2.254") && $0.isSatisfied }
            #expect(path.isSatisfied)
            // A loss and its end in each interval at most, beside the first path and the last.
            let intervals = Int((ContinuousClock.now - start) / .milliseconds(50)) + 1
            #expect(await scenario.observer.count <= 2 + 2 * intervals)
        }
    }

    @Test(arguments: FrontEnd.allCases) func routesThatDoNotMatterChangeNothing(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            try await scenario.expectNoUpdates { try scenario.host.batch(churn(20_000)) }
            let evaluations = await scenario.monitor.statistics.evaluations
            #expect(evaluations < 1000)
            try scenario.host.ip("route del default")
            try await scenario.path { !$0.isSatisfied }
        }
    }

    @Test func aStoppedProcessSurvivesAnOverrunOfTheSmallestBuffer() async throws {
        try await withScenario(from: .ipv4, configuration: smallestBuffer()) { scenario in
            for isOnline in [false, true] {
                let dropped = await scenario.monitor.statistics.dropped
                let change = isOnline ? "route add default via 192.0.2.1" : "route del default"
                try whileThisProcessIsStopped(do: churn(20_000) + [change], in: scenario.host)
                try await scenario.path { $0.isSatisfied == isOnline }
                #expect(await scenario.monitor.statistics.dropped > dropped)
            }
            #expect(await scenario.monitor.statistics.resyncs >= 2)
        }
    }

    @Test func anOverrunIsSurvived() async throws {
        try await withScenario(from: .ipv4, configuration: smallestBuffer()) { scenario in
            for isOnline in [false, true, false] {
                try scenario.holdingUpTheLoop {
                    try scenario.host.batch(churn(20_000))
                    if isOnline { try scenario.host.ip("addr add 192.0.2.77/24 dev eth0") }
                    try scenario.host.ip(isOnline ? "route add default via 192.0.2.1" : "route del default")
                }
                let path = try await scenario.path { $0.isSatisfied == isOnline }
                if isOnline { #expect(path.primaryInterface?.addresses.count == 2) }
            }
            let statistics = await scenario.monitor.statistics
            #expect(statistics.resyncs >= 3 && statistics.dropped > 0)
        }
    }

    @Test(arguments: FrontEnd.allCases) func forgedMessagesAreNotBelieved(on frontEnd: FrontEnd) async throws {
        try await withScenario(on: frontEnd, from: .ipv4) { scenario in
            let ports = await onLoop(scenario.loop) { RouteSockets.ports }
            #expect(ports.count == 2)  // events and questions
            let forged = message(Wire.deleteLink, linkPayload(flags: 0))
            try await scenario.expectNoUpdates {
                for port in ports {
                    let sent = await onLoop(scenario.loop) { (0..<39).filter { _ in send(forged, to: port) }.count }
                    #expect(sent == 39)
                }
            }
        }
    }

    @Test func manyLinksThatComeAndGoChangeNothing() async throws {
        try await withScenario(from: .ipv4) { scenario in
            try await scenario.expectNoUpdates {
                try scenario.host.batch((0..<50).map { "link add v\($0) type veth peer name w\($0)" })
                try scenario.host.batch((0..<50).map { "link del v\($0)" })
            }
        }
    }

    @Test func changesAreToldWithinMilliseconds() async throws {
        try await withScenario(from: .ipv4, configuration: .prompt) { scenario in
            try await withEventLoop(networkNamespace: scenario.host.name) { writing in
                var delays: [Duration] = []
                for round in 0..<60 {
                    let isOnline = !round.isMultiple(of: 2)
                    let start = await onLoop(writing) { changeDefaultRoute(adding: isOnline) }
                    let begun = try #require(start)
                    let heard = try await scenario.observer.first { $0.isSatisfied == isOnline }
                    delays.append(heard.at - begun)
                }
                delays.sort()
                let limit = Timing.limit(.milliseconds(10), otherwise: .seconds(3))
                #expect(delays[delays.count / 2] < limit, "the median of \(delays)")
            }
        }
    }

    @Test func anIdleMonitorWakesNobody() async throws {
        try await withScenario(setUp: { network in
            try network.silenceIPv6()
            try network.connect()
            try network.addIPv4()
        }) { scenario in
            let status = await onLoop(scenario.loop) { "/proc/self/task/\(threadID())/status" }
            // Real time is what is measured. On a busy machine the loop takes its time to come to rest.
            try await eventually("a second in which nobody is woken") {
                let before = try #require(switches(in: status))
                try await Task.sleep(for: .seconds(1))
                return switches(in: status) == before
            }
        }
    }
}

/// A monitor that hears everything, with the least of room for it.
private func smallestBuffer() throws -> LinuxNetworkMonitor.Configuration {
    var smallest = try LinuxNetworkMonitor.Configuration(receiveBufferSize: 1)
    smallest.kernelFilter = false
    return smallest
}

/// Has commands of ip(8) run by a process that stops this one before and lets it go on after.
private func whileThisProcessIsStopped(do commands: [String], in namespace: NetworkNamespace) throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    try directory.write("batch", Array(commands.joined(separator: "\n").utf8))
    let script = """
        cd \(directory.path)
        trap 'kill -CONT \(getpid())' EXIT
        kill -STOP \(getpid()) && ip -n \(namespace.name) -batch batch
        """
    let status = try Spawn.run(["sh", "-c", script], in: directory.path)
    #expect(status == 0)
}

extension Scenario {
    /// Does `work` while nothing runs on the monitor's loop.
    fileprivate func holdingUpTheLoop(during work: () throws -> Void) rethrows {
        let mayGoOn = Locked(false)
        loop.execute { while !mayGoOn.withLock({ $0 }) { usleep(1000) } }
        defer { mayGoOn.withLock { $0 = true } }
        try work()
    }
}

/// Commands that add and delete routes which no probe takes.
func churn(_ count: Int) -> [String] {
    (0..<count / 2).flatMap { index in
        let route = "10.\(index / 250 % 250).\(index % 250).0/24 via 192.0.2.1"
        return ["route add \(route)", "route del \(route)"]
    }
}

/// Runs `work` on a loop's thread, and so in its network namespace.
func onLoop<Result: Sendable>(_ loop: EventLoop, _ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in loop.execute { continuation.resume(returning: work()) } }
}

/// Sends a message to another process's netlink socket, as only root can.
private func send(_ message: [UInt8], to port: UInt32) -> Bool {
    guard let socket = try? NetlinkSocket(isBlocking: false) else { return false }
    var address = Bytes()  // struct sockaddr_nl
    address.add(UInt32(AF_NETLINK))
    address.add(port)
    address.add(UInt32(0))
    let sent = address.bytes.withUnsafeBytes { address in
        sendto(
            socket.descriptor, message, message.count, 0, address.assumingMemoryBound(to: sockaddr.self).baseAddress,
            socklen_t(address.count))
    }
    return sent == message.count
}

/// Adds or deletes the default route without the help of a program; the moment before the kernel does it.
private func changeDefaultRoute(adding: Bool) -> ContinuousClock.Instant? {
    let flags = adding ? Wire.create | Wire.exclusive : 0
    var request = NetlinkRequest(adding ? Wire.newRoute : Wire.deleteRoute, flags: flags)
    for byte in [UInt8(AF_INET), 0, 0, 0, 254, 3, 0, 1] { request.append(byte) }  // main, boot, universe, unicast
    request.append(UInt32(0))
    request.append(attribute: UInt32(Wire.routeGateway), [192, 0, 2, 1])
    guard let socket = try? NetlinkSocket(isBlocking: true) else { return nil }
    let start = ContinuousClock.now
    do { try socket.send(request.numbered(1)) } catch { return nil }
    return start
}

private func threadID() -> String {
    var buffer = [CChar](repeating: 0, count: 64)
    let count = readlink("/proc/thread-self", &buffer, buffer.count)  // <pid>/task/<tid>
    let text = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return text.split(separator: "/").last.map(String.init) ?? ""
}

/// How often a thread went to sleep and was woken.
private func switches(in path: String) -> Int? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 8192)
    let count = fread(&buffer, 1, buffer.count, file)
    let lines = String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return line?.split(separator: "\t").last.flatMap { Int($0) }
}
