// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkMonitor
import UplinkTesting

/// A network of a test's own, and what is told of it.
struct Scenario: Sendable {
    let network: TestNetwork
    let observer: PathObserver
    /// The monitor that is observed; under ``FrontEnd/program`` one that rests.
    let monitor: LinuxNetworkMonitor
    /// A loop on the host.
    let loop: EventLoop

    /// The machine under test.
    var host: NetworkNamespace { network.device }
    /// The other end of its cable.
    var router: NetworkNamespace { network.router }
}

/// Plays a scenario in namespaces of its own. What watches starts after `setUp`, and has told its first path when
/// `body` begins.
nonisolated(nonsending) func withScenario(
    on frontEnd: FrontEnd = .library, from beginning: TestNetwork.Beginning = .empty,
    configuration: LinuxNetworkMonitor.Configuration = .init(), validator: PathValidator? = nil,
    refusing call: Sandbox.Call? = nil, with errno: CInt = EPERM, setUp: (TestNetwork) throws -> Void = { _ in },
    _ body: nonisolated(nonsending) (Scenario) async throws -> Void
) async throws {
    try await withTestNetwork(beginning) { network in
        try setUp(network)
        try await withEventLoop(networkNamespace: network.device.path) { loop in
            if let call { try #require(await onLoop(loop) { Sandbox.refuse(call, with: errno) }) }
            let monitor = LinuxNetworkMonitor(on: loop, configuration: configuration, validator: validator)
            let observer = PathObserver()
            try await frontEnd.observing(network, monitor, observer) {
                _ = try await observer.first { _ in true }
                try await body(Scenario(network: network, observer: observer, monitor: monitor, loop: loop))
            }
        }
    }
}

extension LinuxNetworkMonitor.Configuration {
    /// Tells every path, however short it lasts.
    static var prompt: Self {
        get throws { try Self(minimumInterval: .zero) }
    }
}

/// What has been heard of a monitor.
actor PathObserver {
    struct Nothing: Error, CustomStringConvertible {
        let heard: [NetworkPath]
        var description: String { "no such path came; heard: \(heard.map(\.description))" }
    }

    private var paths: [NetworkPath] = []
    private var times: [ContinuousClock.Instant] = []
    private var position = 0
    private var waiter: CheckedContinuation<Void, Never>?
    private(set) var hasEnded = false

    func record(_ path: NetworkPath) {
        times.append(.now)
        paths.append(path)
        wake()
    }

    func end() {
        hasEnded = true
        wake()
    }

    /// The next path that fits; what was heard before it stays in `passed` for the caller's judgement.
    func first(
        within limit: Duration = .seconds(30), where fits: @Sendable (NetworkPath) -> Bool
    ) async throws -> (path: NetworkPath, passed: [NetworkPath], at: ContinuousClock.Instant) {
        let start = position
        let alarm = Task {
            try await Task.sleep(for: limit)
            self.wake()
        }
        defer { alarm.cancel() }
        let deadline = ContinuousClock.now + limit
        while true {
            while position < paths.count {
                position += 1
                if fits(paths[position - 1]) {
                    return (paths[position - 1], Array(paths[start..<position - 1]), times[position - 1])
                }
            }
            guard ContinuousClock.now < deadline, !hasEnded else { throw Nothing(heard: Array(paths[start...])) }
            await withCheckedContinuation { waiter = $0 }
        }
    }

    /// The path heard last.
    var latest: NetworkPath? { paths.last }

    /// How many paths have been heard.
    var count: Int { paths.count }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }
}

extension Scenario {
    /// Waits for a path that fits.
    @discardableResult
    func path(
        within limit: Duration = .seconds(30), where fits: @Sendable (NetworkPath) -> Bool
    ) async throws -> NetworkPath { try await observer.first(within: limit, where: fits).path }

    /// Waits for a path that fits, unless the latest does.
    @discardableResult
    func reach(where fits: @Sendable (NetworkPath) -> Bool) async throws -> NetworkPath {
        if let latest = await observer.latest, fits(latest) { return latest }
        return try await path(where: fits)
    }

    /// Waits for a path that fits, and expects that the network was satisfied all the way.
    @discardableResult
    func handover(where fits: @Sendable (NetworkPath) -> Bool) async throws -> NetworkPath {
        let (path, passed, _) = try await observer.first(where: fits)
        #expect(passed.allSatisfy { $0.isSatisfied }, "the network was lost in between: \(passed)")
        #expect(path.isSatisfied)
        return path
    }

    /// Expects that `work` changed nothing, by making a change that shows: the next path is that one, and none was held
    /// back before it. The host must be online over IPv4.
    func expectNoUpdates(during work: () async throws -> Void) async throws {
        let before = try #require(await observer.latest)
        let count = await observer.count
        try await work()
        try host.ip("route replace default via 192.0.2.254")
        let after = try await path { $0.ipv4.gateway == IPAddress("192.0.2.254") }
        #expect(after.generation == before.generation + 1)
        #expect(await observer.count == count + 1)
    }
}

extension TestNetwork {
    /// Does without IPv6 on links that come. Its own messages come for seconds, and could wake a monitor that has
    /// missed what the test is about.
    func silenceIPv6() throws { try device.set("ipv6/conf/default/disable_ipv6", to: 1) }
}
