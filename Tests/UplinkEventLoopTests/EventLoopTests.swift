// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing
import UplinkCore
import UplinkEventLoop
import UplinkTesting

@testable import class UplinkEventLoop.Inbox

/// An actor on a loop that counts, for the tests of affinity.
private actor Counter: LoopActor {
    nonisolated let eventLoop: EventLoop
    private(set) var count = 0

    init(on loop: EventLoop) { eventLoop = loop }

    func add() { count += 1 }

    func isOnLoop() -> Bool { eventLoop.isCurrent }

    /// Whether a call of another actor on the loop overtakes what was enqueued before it.
    func callOvertakes(_ other: Counter) async -> Bool {
        let hasRun = Locked(false)
        eventLoop.execute { hasRun.withLock { $0 = true } }
        await other.add()
        return !hasRun.withLock { $0 }
    }
}

@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct EventLoopTests {
    @Test func whatIsOfUseToARunningLoopAloneIsDroppedAfterItsEnd() throws {
        let inbox = try Inbox()
        inbox.addUnlessClosed(.work {})
        #expect(inbox.finish() == .needsLateThread)
        #expect(inbox.takeLate()?.count == 1)
        inbox.addUnlessClosed(.work {})
        #expect(inbox.takeLate() == nil)
    }

    @Test func actorsOfALoopRunOnItsThread() async throws {
        try await withEventLoop { loop in
            #expect(!loop.isCurrent)
            #expect(await Counter(on: loop).isOnLoop())
        }
    }

    @Test func tasksThatPreferTheLoopRunOnIt() async throws {
        try await withEventLoop { loop in
            let isCurrent = await withTaskExecutorPreference(loop) { await isOnThread(of: loop) }
            #expect(isCurrent)
        }
    }

    @Test func aHundredThousandHopsFromManyTasksAllArrive() async throws {
        try await withEventLoop { loop in
            let counter = Counter(on: loop)
            await withDiscardingTaskGroup { group in
                for _ in 0..<100 { group.addTask { for _ in 0..<1000 { await counter.add() } } }
            }
            #expect(await counter.count == 100_000)
        }
    }

    @Test func whatWasEnqueuedBeforeTheEndRuns() async throws {
        let ran = Locked(0)
        try await withEventLoop { loop in
            for _ in 0..<1000 { loop.execute { ran.withLock { $0 += 1 } } }
        }
        #expect(ran.withLock { $0 } == 1000)
    }

    @Test func tasksThatArriveAfterTheEndStillRun() async throws {
        let counter = try await withEventLoop { Counter(on: $0) }
        await withDiscardingTaskGroup { group in
            for _ in 0..<100 { group.addTask { await counter.add() } }
        }
        #expect(await counter.count == 100)
        #expect(await counter.isOnLoop())
    }

    @Test func clocksOfAnEndedLoopThrow() async throws {
        let clock = try await withEventLoop { LoopClock(on: $0) }
        await #expect(throws: EventLoopError.self) { try await clock.sleep(for: .seconds(60)) }
    }

    @Test func theErrorOfTheScopeIsPassedOn() async throws {
        await #expect(throws: CancellationError.self) {
            try await withEventLoop { _ in throw CancellationError() }
        }
    }

    @Test func aMissingNetworkNamespaceIsAnError() async throws {
        let error = await #expect(throws: EventLoopError.self) {
            try await withEventLoop(networkNamespace: "no-such-namespace") { _ in }
        }
        #expect(error?.code == .networkNamespace)
    }

    /// Threads begin in the namespace of those that make them, but what is for all loops belongs to the process's.
    @Test(.needsNetworkNamespaces) func aNamespaceIsOfOneLoopAlone() async throws {
        let process = try #require(networkNamespace("/proc/self/ns/net"))
        try await withNetworkNamespaces { namespace, _ in
            try await withEventLoop(networkNamespace: namespace.name) { loop in
                #expect(try await loop.offLoop { networkNamespace() } == process)
                let inside = try await loop.besideLoop { networkNamespace() }
                #expect(inside != nil && inside != process)
                try await withTaskExecutorPreference(loop) {
                    #expect(await currentNetworkNamespace() == inside)
                    try await withEventLoop { other in
                        let outside = await withTaskExecutorPreference(other) { await currentNetworkNamespace() }
                        #expect(outside == process)
                    }
                }
            }
        }
    }

    @Test func signalsAreBlockedOnTheLoop() async throws {
        try await withEventLoop { loop in
            let areBlocked = await withTaskExecutorPreference(loop) { await interruptIsBlocked() }
            #expect(areBlocked)
        }
    }

    @Test func workOffTheLoopGivesItsResultOrError() async throws {
        try await withEventLoop { loop in
            let wasOnLoop = try await loop.offLoop { loop.isCurrent }
            #expect(!wasOnLoop)
            await #expect(throws: CancellationError.self) { try await loop.offLoop { throw CancellationError() } }
        }
    }

    @Test func callsFromOneActorOfTheLoopToAnotherAreNotEnqueued() async throws {
        try await withEventLoop { loop in
            #expect(await Counter(on: loop).callOvertakes(Counter(on: loop)))
        }
    }

    @Test func tasksThatPreferALoopLeaveItToItsOtherOwners() async throws {
        weak var loop: EventLoop?
        try await withEventLoop { new in
            loop = new
            for _ in 0..<100 { await Task(executorPreference: new) { await Counter(on: new).add() }.value }
            await withTaskExecutorPreference(new) {
                await withDiscardingTaskGroup { group in
                    for _ in 0..<100 { group.addTask { await Counter(on: new).add() } }
                    for _ in 0..<100 { group.addTask(executorPreference: new) { await Counter(on: new).add() } }
                }
            }
            #expect(await Counter(on: new).isOnLoop())
        }
        try await eventually("the loop is released") { loop == nil }
    }

    @Test func aLoopEndsThoughATaskOnItNeverStopsYielding() async throws {
        let isOver = Locked(false)
        let task = try await withEventLoop { loop in
            Task(executorPreference: loop) {
                while !isOver.withLock({ $0 }) { await Task.yield() }
            }
        }
        isOver.withLock { $0 = true }
        await task.value  // it ran on, on the thread for what comes late
    }

    @Test func socketsAreServedThoughATaskNeverStopsYielding() async throws {
        try await withEventLoop { loop in
            let isOver = Locked(false)
            let task = Task(executorPreference: loop) {
                while !isOver.withLock({ $0 }) { await Task.yield() }
            }
            try await LoopClock(on: loop).sleep(for: .milliseconds(1))
            try await loop.offLoop {}
            isOver.withLock { $0 = true }
            await task.value
        }
    }

    @Test func loopsLeaveNoDescriptorAndNoThread() async throws {
        try await withEventLoop { try await $0.offLoop {} }  // starts libuv's thread pool, which stays
        let before = Census()
        for _ in 0..<50 { try await withEventLoop { _ = await Counter(on: $0).isOnLoop() } }
        // Tests beside this one have descriptors and threads of their own for a while, and the pool of tasks may grow.
        try await eventually("\(before.descriptors) descriptors, \(before.threads) threads") {
            Census().descriptors <= before.descriptors && Census().threads <= before.threads + 2
        }
    }
}

private nonisolated func isOnThread(of loop: EventLoop) async -> Bool { loop.isCurrent }

private nonisolated func interruptIsBlocked() async -> Bool {
    var mask = sigset_t()
    pthread_sigmask(SIG_SETMASK, nil, &mask)
    return sigismember(&mask, SIGINT) == 1
}

/// The network namespace of the calling thread, as its inode's number.
private func networkNamespace(_ path: String = "/proc/thread-self/ns/net") -> UInt? {
    var status = stat()
    return stat(path, &status) == 0 ? UInt(status.st_ino) : nil
}

@concurrent private func currentNetworkNamespace() async -> UInt? { networkNamespace() }
