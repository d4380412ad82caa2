// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop

@testable import UplinkMonitor

/// When a monitor works, when it rests, and that nothing of it stays. These look at the network of this machine, which
/// they do not change.
@Suite(.serialized, .undisturbed, .timeLimit(.minutes(10)))
struct LifecycleTests {
    @Test func thereIsAPathWithinMillisecondsOfTheFirstSubscription() async throws {
        try await withEventLoop { loop in
            let monitor = LinuxNetworkMonitor(on: loop)
            #expect(monitor.currentPath == nil)
            let start = ContinuousClock.now
            var paths = monitor.paths.makeAsyncIterator()
            let path = try await paths.next()
            #expect(ContinuousClock.now - start < .seconds(5))  // 1 to 8 ms, but for sanitizers and loaded machines
            #expect(monitor.currentPath == path)
            #expect(path?.generation == 1)
        }
    }

    @Test func aMonitorRestsWithoutSubscribersAndStartsAnew() async throws {
        try await withEventLoop { loop in
            let monitor = LinuxNetworkMonitor(on: loop)
            var generations: [UInt64] = []
            for _ in 0..<3 {
                for try await path in monitor.paths {
                    generations.append(path.generation)
                    break
                }
                await onLoop(loop) {}  // what the end of the subscription asked for has been done
                #expect(monitor.currentPath == nil)
                #expect(await monitor.watcher.eventPort == 0)
            }
            #expect(generations.count == 3)
            #expect(generations == generations.sorted())
        }
    }

    @Test func itsPathsKeepAMonitorAtWork() async throws {
        try await withEventLoop { loop in
            var paths = LinuxNetworkMonitor(on: loop).paths.makeAsyncIterator()
            let path = try await paths.next()
            #expect(path != nil)
        }
    }

    @Test func stoppingEndsAllStreamsForGood() async throws {
        try await withEventLoop { loop in
            let monitor = LinuxNetworkMonitor(on: loop)
            var paths = monitor.paths.makeAsyncIterator()
            _ = try await paths.next()
            monitor.stop()
            while try await paths.next() != nil {}
            monitor.stop()
            var late = monitor.paths.makeAsyncIterator()
            let path = try await late.next()
            #expect(path == nil)
            #expect(await monitor.watcher.eventPort == 0)
            #expect(monitor.currentPath == nil)
        }
    }

    @Test func aMonitorOnALoopThatHasEndedIsAnError() async throws {
        let monitor = try await withEventLoop { LinuxNetworkMonitor(on: $0) }
        let error = await #expect(throws: NetworkMonitorError.self) { for try await _ in monitor.paths {} }
        #expect(error?.code == .unavailable)
    }

    @Test func streamsThatOutliveTheLoopEndWithAnError() async throws {
        let iteration = try await withEventLoop { loop in
            let monitor = LinuxNetworkMonitor(on: loop)
            let hasBegun = Locked(false)
            let iteration = Task { for try await _ in monitor.paths { hasBegun.withLock { $0 = true } } }
            try await eventually("a path is told") { hasBegun.withLock { $0 } }
            return iteration
        }
        let error = await #expect(throws: NetworkMonitorError.self) { try await iteration.value }
        #expect(error?.message.contains("loop has ended") == true)
    }

    /// What still runs on a loop that has ended runs on a thread made for it, which may not be had; here it is busy.
    @Test func aMonitorIsReleasedAtOnceWhenItsLoopHasEnded() async throws {
        let isReleased = Locked(false)
        weak var handles: WatchHandles?
        var monitor: LinuxNetworkMonitor? = try await withEventLoop { loop in
            let monitor = LinuxNetworkMonitor(on: loop)
            for try await _ in monitor.paths { break }
            monitor.stop()
            handles = await monitor.watcher.handles
            return monitor
        }
        #expect(handles != nil)
        monitor?.watcher.eventLoop.execute { while !isReleased.withLock({ $0 }) { usleep(1000) } }
        monitor = nil
        #expect(handles == nil)
        isReleased.withLock { $0 = true }
    }

    @Test func socketsAreClosedOnExec() async throws {
        for isBlocking in [true, false] {
            let socket = try NetlinkSocket(isBlocking: isBlocking)
            #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0)
            #expect(fcntl(socket.descriptor, F_GETFL) & O_NONBLOCK == (isBlocking ? 0 : O_NONBLOCK))
        }
    }

    @Test func theSharedMonitorWorks() async throws {
        for try await path in LinuxNetworkMonitor.shared.paths {
            #expect(path.generation >= 1)
            break
        }
    }
}
