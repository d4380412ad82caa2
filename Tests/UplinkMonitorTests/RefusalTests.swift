// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkTesting

@testable import UplinkMonitor

/// What a monitor says where a sandbox forbids its system calls: a seccomp filter on the loop's thread alone.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)))
struct RefusalTests {
    @Test(arguments: [EAFNOSUPPORT, EPERM, EACCES])
    func aRefusedSocketIsAnErrorThatSaysWhatToDo(errno: CInt) async throws {
        try await withEventLoop { loop in
            try #require(await onLoop(loop) { Sandbox.refuse(.socket, with: errno) })
            let monitor = LinuxNetworkMonitor(on: loop)
            let start = ContinuousClock.now
            let error = await #expect(throws: NetworkMonitorError.self) { for try await _ in monitor.paths {} }
            #expect(ContinuousClock.now - start < .seconds(5))  // 2 ms, but for a loaded machine
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("RestrictAddressFamilies") == true)
            #expect((error?.underlyingError as? NetlinkError)?.errno == errno)
            #expect(monitor.currentPath == nil)
        }
    }

    @Test func everySubscriberIsToldOnceAndNothingSpins() async throws {
        try await withEventLoop { loop in
            try #require(await onLoop(loop) { Sandbox.refuse(.socket, with: EPERM) })
            let monitor = LinuxNetworkMonitor(on: loop)
            for _ in 0..<3 {
                var paths = monitor.paths.makeAsyncIterator()
                await #expect(throws: NetworkMonitorError.self) { try await paths.next() }
                let path = try await paths.next()
                #expect(path == nil)
            }
            #expect(await monitor.statistics.evaluations == 0)
        }
    }

    @Test func asManyAsSubscribeAfterAFailureAreServed() async throws {
        try await withEventLoop { loop in
            try #require(await onLoop(loop) { Sandbox.refuse(.socket, with: EPERM) })
            let monitor = LinuxNetworkMonitor(on: loop)
            var first = monitor.paths.makeAsyncIterator()
            await #expect(throws: NetworkMonitorError.self) { try await first.next() }
            var second = monitor.paths.makeAsyncIterator()  // while the first still holds its place
            await #expect(throws: NetworkMonitorError.self) { try await second.next() }
            let path = try await first.next()
            #expect(path == nil)
        }
    }

    @Test func aSocketThatFailsLaterEndsTheStreamsWithAnError() async throws {
        try await withEventLoop { loop in
            let monitor = LinuxNetworkMonitor(on: loop)
            var paths = monitor.paths.makeAsyncIterator()
            _ = try await paths.next()
            try #require(await onLoop(loop) { Sandbox.refuse(.recvmsg, with: EACCES) })
            await monitor.watcher.readNow()
            let error = await #expect(throws: NetworkMonitorError.self) { while try await paths.next() != nil {} }
            #expect(error?.code == .failed)
            #expect(await monitor.watcher.eventPort == 0)
        }
    }

    @Test(.needsNetworkNamespaces) func noPrivilegesAreNeeded() async throws {
        try await withTestNetwork { network in
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                try #require(await onLoop(loop) { Sandbox.dropPrivileges() })
                #expect(await onLoop(loop) { open("/proc/1/environ", O_RDONLY) } == -1)  // they are gone
                let monitor = LinuxNetworkMonitor(on: loop)
                var paths = monitor.paths.makeAsyncIterator()
                let online = try await paths.next()
                #expect(online?.ipv4.gateway == IPAddress("192.0.2.1"))
                try network.device.ip("route del default")
                let offline = try await paths.next()
                #expect(offline?.unsatisfiedReason == .noRoute)
            }
        }
    }
}
