// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkMonitor
import UplinkTesting

/// The C front end gives the paths that the Swift monitor gives, through one scenario after the other.
@Suite(
    .timeLimit(.minutes(20)), .undisturbed, .serialized,  // the first one may have to build the library
    .needsNetworkNamespaces)
struct SamePathTests {
    /// What happens to a host with an interface `eth0`, the status that follows, and whether it is certain to be a new
    /// path.
    private static let steps: [(command: String, status: NetworkPath.Status, isNew: Bool)] = [
        ("link set eth0 up", .unsatisfied, false),
        ("addr add 192.0.2.10/24 dev eth0", .unsatisfied, true),
        ("route add default via 192.0.2.1", .satisfied, true),
        ("-6 addr add 2001:db8::10/64 dev eth0 nodad", .satisfied, false),
        ("-6 route add default via 2001:db8::1", .satisfied, true),
        ("route del default", .satisfied, true),
        ("-6 route del default", .unsatisfied, true),
        ("route add unreachable default", .unsatisfied, true),
        ("route del unreachable default", .unsatisfied, true),
        ("route add default via 192.0.2.1", .satisfied, true),
        ("link set eth0 down", .unsatisfied, true),
    ]

    /// A path without what differs between two monitors: how many paths each has told, and when.
    private func comparable(_ json: String) -> String {
        json.replacing(#/"generation":\d+/#, with: "").replacing(#/"lastResume":[^,}]+/#, with: "")
    }

    @Test func theSamePathsComeThroughBothFrontEnds() async throws {
        try await CLibrary.withProgram("Examples/c/watch.c") { program in
            try await withNetworkNamespaces { host, router in
                try host.ip("link set lo up")
                try host.ip("link add eth0 type veth peer name r0 netns \(router.name)")
                try router.ip("link set r0 up")
                let watch = try RunningProgram(host.entering([program, "json"]))
                try await withEventLoop(networkNamespace: host.name) { loop in
                    let monitor = LinuxNetworkMonitor(on: loop)
                    let subscription = Task { for try await _ in monitor.paths {} }
                    var generation: UInt64 = 0
                    for step in Self.steps {
                        try host.ip(step.command)
                        try await eventually(within: .seconds(20), "both tell of `\(step.command)`") {
                            guard let path = monitor.currentPath, path.status == step.status,
                                !step.isNew || path.generation > generation
                            else {
                                return false
                            }
                            let lines = watch.output.split(separator: "\n")
                            return lines.last.map { comparable(String($0)) } == comparable(path.json)
                        }
                        generation = monitor.currentPath?.generation ?? 0
                    }
                    monitor.stop()
                    _ = await subscription.result
                }
                watch.signal(SIGTERM)
                #expect(try await watch.wait() == 128 + SIGTERM)
            }
        }
    }
}
