// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import Uplink
import UplinkTesting

/// The kernel's monitor in a network namespace, put through what every monitor promises.
@Suite(
    .timeLimit(.minutes(2)), .undisturbed, .serialized,
    .needsNetworkNamespaces)
struct LinuxMonitorConformanceTests {
    @Test func theLinuxMonitorKeepsThePromises() async throws {
        try await withNetworkNamespaces { host, router in
            try host.ip("link set lo up")
            try host.ip("link add eth0 index 40 type veth peer name r0 index 50 netns \(router.name)")
            try router.ip("link set r0 up")
            try host.batch(["link set eth0 up", "addr add 192.0.2.10/24 dev eth0"])
            try await withEventLoop(networkNamespace: host.name) { loop in
                let configuration = try LinuxNetworkMonitor.Configuration(minimumInterval: .zero)
                try await NetworkMonitorConformance(
                    make: { LinuxNetworkMonitor(on: loop, configuration: configuration) },
                    goOnline: { _ in try host.ip("route replace default via 192.0.2.1") },
                    goOffline: { _ in try? host.ip("route del default") },  // which may be gone already
                    stop: { $0.stop() }
                ).check()
            }
        }
    }

    @Test func aMonitorThatPollsKeepsThePromises() async throws {
        try await withNetworkNamespaces { host, router in
            try host.ip("link set lo up")
            try host.ip("link add eth0 index 40 type veth peer name r0 index 50 netns \(router.name)")
            try router.ip("link set r0 up")
            try host.batch(["link set eth0 up", "addr add 192.0.2.10/24 dev eth0"])
            try await withEventLoop(networkNamespace: host.name) { loop in
                let isRefused = Locked(false)
                await withCheckedContinuation { continuation in
                    loop.execute {
                        let done = Sandbox.refuse(.netlinkSocket, with: 1)  // EPERM
                        isRefused.withLock { $0 = done }
                        continuation.resume()
                    }
                }
                try #require(isRefused.withLock { $0 })
                let configuration = try LinuxNetworkMonitor.Configuration(
                    minimumInterval: .zero, whenUnavailable: .poll(every: .milliseconds(100)))
                try await NetworkMonitorConformance(
                    make: { LinuxNetworkMonitor(on: loop, configuration: configuration) },
                    goOnline: { _ in try host.ip("route replace default via 192.0.2.1") },
                    goOffline: { _ in try? host.ip("route del default") },  // which may be gone already
                    stop: { $0.stop() }
                ).check()
            }
        }
    }
}
