// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkTesting

@testable import UplinkMonitor

/// That monitors close what they opened: counted in a namespace that has no other netlink sockets.
@Suite(.serialized, .timeLimit(.minutes(1)), .needsNetworkNamespaces)
struct LeakTests {
    @Test func cyclesOfSubscriptionsLeaveNoSocket() async throws {
        try await withLoopInNamespace { loop in
            let monitors = [LinuxNetworkMonitor(on: loop), LinuxNetworkMonitor(on: loop)]
            for cycle in 0..<200 {
                let paths = monitors[cycle % 2].paths
                switch cycle % 3 {
                case 0:
                    for try await _ in paths { break }
                case 1:
                    let task = Task { for try await _ in paths {} }
                    await Task.yield()
                    task.cancel()
                    try await task.value
                default:
                    var (first, second) = (paths.makeAsyncIterator(), paths.makeAsyncIterator())
                    _ = try await second.next()
                    #expect(await routeSockets(on: loop, expecting: 2) == 2)
                    _ = try await first.next()
                }
            }
            #expect(await routeSockets(on: loop, expecting: 0) == 0)
            withExtendedLifetime(monitors) {}
        }
    }

    @Test func aThousandSubscriptionsLeaveNothing() async throws {
        try await withTestNetwork { network in
            try await withEventLoop(networkNamespace: network.device.path) { loop in
                try await withEventLoop(networkNamespace: network.router.path) { elsewhere in
                    let monitors = [
                        LinuxNetworkMonitor(on: loop), LinuxNetworkMonitor(on: loop),
                        LinuxNetworkMonitor(on: elsewhere),
                    ]
                    func cycle(_ count: Int) async throws {
                        for round in 0..<count {
                            let monitor = monitors[round % monitors.count]
                            let task = Task { for try await path in monitor.paths where path.generation == 0 { break } }
                            if round.isMultiple(of: 2) { for try await _ in monitor.paths { break } }
                            task.cancel()
                            try await task.value
                        }
                        for loop in [loop, elsewhere] { #expect(await routeSockets(on: loop, expecting: 0) == 0) }
                    }
                    try await cycle(100)
                    let (before, memory) = (Census(), Census.residentBytes)
                    try await cycle(1000)
                    // inotify's are closed off the loop, and one of the pool's threads may come late.
                    try await eventually("no descriptor and no thread is left") {
                        let after = Census()
                        return after.descriptors <= before.descriptors && after.threads <= before.threads + 1
                    }
                    if !Timing.isInstrumented { #expect(Census.residentBytes - memory < 4 << 20) }
                }
            }
        }
    }

    @Test func aMonitorThatIsDroppedClosesItsSockets() async throws {
        try await withLoopInNamespace { loop in
            weak var watcher: PathWatcher?
            do {
                let monitor = LinuxNetworkMonitor(on: loop)
                watcher = monitor.watcher
                var paths = monitor.paths.makeAsyncIterator()
                _ = try await paths.next()
                #expect(await routeSockets(on: loop, expecting: 2) == 2)
            }
            for _ in 0..<1000 where watcher != nil { await onLoop(loop) {} }
            #expect(watcher == nil)
            #expect(await routeSockets(on: loop, expecting: 0) == 0)
        }
    }

    @Test func aMonitorThatOutlivesItsLoopClosesItsSockets() async throws {
        try await withNetworkNamespaces { host, _ in
            let monitor = try await withEventLoop(networkNamespace: host.name) { loop in
                let monitor = LinuxNetworkMonitor(on: loop)
                let task = Task { for try await _ in monitor.paths {} }
                while monitor.currentPath == nil { await Task.yield() }
                task.cancel()
                try await task.value
                return monitor
            }
            monitor.stop()
            try await withEventLoop(networkNamespace: host.name) { loop in
                #expect(await routeSockets(on: loop, expecting: 0) == 0)
            }
        }
    }

    private func withLoopInNamespace(_ body: (EventLoop) async throws -> Void) async throws {
        try await withNetworkNamespaces { host, _ in
            try await withEventLoop(networkNamespace: host.name) { try await body($0) }
        }
    }
}

/// The number of sockets when it is what is expected, or else after a while. Sockets close on the loop, soon after what
/// asks for it; and the kernel's list may miss an entry while other namespaces' sockets come and go.
private func routeSockets(on loop: EventLoop, expecting expected: Int) async -> Int {
    for _ in 0..<1000 where await onLoop(loop, { RouteSockets.ports.count }) != expected { await Task.yield() }
    return await onLoop(loop) { RouteSockets.ports.count }
}
