// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkTesting

/// How soon `uplink watch --json` tells what the kernel knows. Real time, because that is what is measured.
@Suite(
    .timeLimit(.minutes(2)), .undisturbed, .serialized,
    .needsNetworkNamespaces)
struct WatchLatencyTests {
    /// A change of the network, and the status that is to be told for it.
    private struct Step: Sendable {
        let makeIt: @Sendable (_ host: NetworkNamespace, _ router: NetworkNamespace) throws -> Void
        let status: String
    }

    private static let steps = [
        Step(makeIt: { _, router in try router.ip("link set r0 down") }, status: "unsatisfied"),  // the carrier is lost
        Step(makeIt: { _, router in try router.ip("link set r0 up") }, status: "satisfied"),
        Step(makeIt: { host, _ in try host.ip("addr del 192.0.2.10/24 dev eth0") }, status: "unsatisfied"),
        Step(
            makeIt: { host, _ in
                try host.batch(["addr add 192.0.2.10/24 dev eth0", "route add default via 192.0.2.1"])
            }, status: "satisfied"),
        Step(makeIt: { host, _ in try host.ip("route del default") }, status: "unsatisfied"),
        Step(makeIt: { host, _ in try host.ip("route add default via 192.0.2.1") }, status: "satisfied"),
        Step(makeIt: { host, _ in try host.ip("route replace default via 192.0.2.2") }, status: "satisfied"),
        Step(makeIt: { host, _ in try host.ip("route replace default via 192.0.2.1") }, status: "satisfied"),
    ]

    @Test func changesAreToldWithinTenMillisecondsAtTheMedian() async throws {
        try await withNetworkNamespaces { host, router in
            try host.ip("link set lo up")
            try host.ip("link add eth0 index 40 type veth peer name r0 index 50 netns \(router.name)")
            try router.ip("link set r0 up")
            try host.batch([
                "link set eth0 up", "addr add 192.0.2.10/24 dev eth0", "route add default via 192.0.2.1",
            ])
            let program = try BuiltProgram.start("watch --json", in: host)
            try await program.waitForOutput("\"status\":\"satisfied\"")
            var delays: [Duration] = []
            for step in Array(repeating: Self.steps, count: 4).joined() {
                // The monitor tells the first change at once, the next after its interval: 50 ms.
                try await Task.sleep(for: .milliseconds(70))
                let before = Self.lines(program).count
                try step.makeIt(host, router)
                let start = ContinuousClock.now
                try await eventually("\(step.status) after \(program.output)") {
                    Self.lines(program).count > before
                        && Self.lines(program).last?.contains("\"status\":\"\(step.status)\"") == true
                }
                delays.append(ContinuousClock.now - start)
            }
            delays.sort()
            let median = delays[delays.count / 2]
            #expect(median < Timing.slack(.milliseconds(10)), "median \(median), all \(delays)")
            program.signal(SIGTERM)
            try await program.wait()
        }
    }

    private static func lines(_ program: RunningProgram) -> [Substring] { program.output.split(separator: "\n") }
}
