// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkMonitor

/// A host with a monitor on it, and a router on the other end of its cable.
struct Scenario: Sendable {
    let host: NetworkNamespace
    let router: NetworkNamespace
    let monitor: LinuxNetworkMonitor
    let observer: PathObserver
    let loop: EventLoop
}

/// Plays a scenario in namespaces of its own; the monitor starts after `setUp` and has given its first path.
nonisolated(nonsending) func withScenario(
    configuration: LinuxNetworkMonitor.Configuration = .init(), validator: PathValidator? = nil,
    refusing call: Sandbox.Call? = nil, with errno: CInt = EPERM,
    setUp: (NetworkNamespace, NetworkNamespace) throws -> Void = { _, _ in },
    _ body: nonisolated(nonsending) (Scenario) async throws -> Void
) async throws {
    try await withNetworkNamespaces { host, router in
        try router.ip("link set lo up")
        try setUp(host, router)
        try await withEventLoop(networkNamespace: host.name) { loop in
            if let call { try #require(await onLoop(loop) { Sandbox.refuse(call, with: errno) }) }
            let monitor = LinuxNetworkMonitor(on: loop, configuration: configuration, validator: validator)
            let observer = PathObserver()
            let observation = Task {
                for try await path in monitor.paths { await observer.record(path) }
                await observer.end()
            }
            _ = try await observer.first(within: .seconds(5)) { _ in true }
            try await body(
                Scenario(host: host, router: router, monitor: monitor, observer: observer, loop: loop))
            monitor.stop()
            try await observation.value
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
        within limit: Duration = .seconds(5), where fits: @Sendable (NetworkPath) -> Bool
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
        within limit: Duration = .seconds(5), where fits: @Sendable (NetworkPath) -> Bool
    ) async throws -> NetworkPath { try await observer.first(within: limit, where: fits).path }

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

extension NetworkNamespace {
    /// A cable to the router: both ends up, the router with addresses, the host with none.
    func connect(to router: NetworkNamespace) throws {
        try ip("link set lo up")
        try ip("link add eth0 index 40 type veth peer name r0 index 50 netns \(router.name)")
        try router.batch([
            "addr add 192.0.2.1/24 dev r0", "addr add 192.0.2.254/24 dev r0", "addr add 2001:db8:1::1/64 dev r0 nodad",
            "link set r0 up",
        ])
        try ip("link set eth0 up")
    }

    func addIPv4() throws {
        try ip("addr add 192.0.2.10/24 dev eth0")
        try ip("route add default via 192.0.2.1")
    }

    func addIPv6() throws {
        try ip("-6 addr add 2001:db8:1::10/64 dev eth0 nodad")
        try ip("-6 route add default via 2001:db8:1::1")
    }

    /// A second cable, with an address but without a route.
    func connectSecondLink(to router: NetworkNamespace) throws {
        try ip("link add eth1 index 41 type veth peer name r1 index 51 netns \(router.name)")
        try router.batch(["addr add 198.51.100.1/24 dev r1", "link set r1 up"])
        try ip("link set eth1 up")
        try ip("addr add 198.51.100.10/24 dev eth1")
    }

    /// Does without IPv6 on links that come. Its own messages come for seconds, and could wake a monitor that has missed
    /// what the test is about.
    func silenceIPv6() throws { try set("ipv6/conf/default/disable_ipv6", to: 1) }

    /// Online over IPv4.
    static func online(_ host: NetworkNamespace, _ router: NetworkNamespace) throws {
        try host.connect(to: router)
        try host.addIPv4()
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that make network namespaces.
    static var needsNetworkNamespaces: Self {
        .enabled(if: NetworkNamespace.arePermitted, Comment(rawValue: NetworkNamespace.requirement))
    }
}
