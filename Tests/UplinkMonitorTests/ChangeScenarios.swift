// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkMonitor
import UplinkTesting

/// What a real kernel's monitor tells those who keep connections.
@Suite(.serialized, .timeLimit(.minutes(2)), .needsNetworkNamespaces)
struct ChangeScenarios {
    @Test func removedAddressesAndChangedRoutesAreTold() async throws {
        try await withTestNetwork { network in
            let (host, router) = (network.device, network.router)
            try await withEventLoop(networkNamespace: host.name) { loop in
                let monitor = LinuxNetworkMonitor(on: loop)
                var changes = monitor.changes.makeAsyncIterator()
                // The subscription alone keeps the monitor at work.
                try await eventually("a path is known") { monitor.currentPath != nil }
                let second = try #require(IPAddress("192.0.2.77"))
                try host.batch(["addr add 192.0.2.77/24 dev eth0", "link set eth0 mtu 1400"])
                // Between two turns the loop reads what came before them: no path tells of this address.
                for _ in 0..<2 { await Task(executorPreference: loop) {}.value }
                try host.ip("addr del 192.0.2.77/24 dev eth0")
                #expect(try await changes.next() == NetworkChange(removedAddresses: [second]))
                try host.ip("route replace default via 192.0.2.254")
                #expect(try await changes.next() == NetworkChange(changedDefaultRoutes: [.ipv4]))
                try router.ip("link set r0 down")  // the address stays, the way does not
                #expect(try await changes.next() == NetworkChange(changedDefaultRoutes: [.ipv4]))
                try await eventually("the path is told too") { monitor.currentPath?.isSatisfied == false }
                try router.ip("link set r0 up")
                try await eventually("the way is back") { monitor.currentPath?.isSatisfied == true }
                try host.ip("link del eth0")
                var gone = NetworkChange()
                while gone.changedDefaultRoutes.isEmpty || gone.removedAddresses.isEmpty {
                    gone = gone.union(try #require(try await changes.next()))
                }
                let own = try #require(IPAddress("192.0.2.10"))
                #expect(gone == NetworkChange(removedAddresses: [own], changedDefaultRoutes: [.ipv4]))
                monitor.stop()
                while try await changes.next() != nil {}
            }
        }
    }

    @Test func aMonitorWithoutNetlinkEndsTheStreamWithAnError() async throws {
        try await withEventLoop { loop in
            try #require(await onLoop(loop) { Sandbox.refuse(.socket, with: 1) })
            let monitor = LinuxNetworkMonitor(on: loop)
            var changes = monitor.changes.makeAsyncIterator()
            await #expect(throws: NetworkMonitorError.self) { try await changes.next() }
        }
    }
}
