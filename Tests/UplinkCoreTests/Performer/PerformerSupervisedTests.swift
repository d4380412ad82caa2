// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct PerformerSupervisedTests {
    /// Runs until it is cancelled, and throws then.
    @Sendable private static func untilCancelled() async throws {
        while true {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test(arguments: [false, true])
    func anOperationThatTakesTooLongIsCancelledAtTheDeadline(comesLater: Bool) async throws {
        let fixture = PerformerFixture(comesLater ? .offline() : .online())
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(2)) { try await Self.untilCancelled() }
        }
        try await fixture.clock.advance(by: .seconds(1))
        fixture.monitor.goOnline()
        try await eventually { fixture.performer.census.running == 1 }
        try await fixture.clock.advance(by: .seconds(1))
        let error = await #expect(throws: NetworkOperationError.self) { try await call.value }
        #expect(error?.code == .deadlineExceeded)
        #expect(error?.underlyingError is CancellationError)
        #expect(fixture.clock.now.offset == .seconds(2))
        try await fixture.expectNothingIsLeft()
    }

    @Test func notStartedInTimeItTimesOut() async throws {
        let fixture = PerformerFixture(.offline())
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(2)) { fixture.count() }
        }
        try await fixture.clock.advance(by: .seconds(2))
        let error = await #expect(throws: NetworkOperationError.self) { try await call.value }
        #expect(error?.code == .timedOut)
        #expect(fixture.runCount == 0)
        try await fixture.expectNothingIsLeft()
    }

    @Test func aValueReturnedAfterTheDeadlineIsDelivered() async throws {
        let fixture = PerformerFixture(.online())
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(2)) {
                while !Task.isCancelled { await Task.yield() }
                return "late"
            }
        }
        try await fixture.clock.advance(by: .seconds(2))
        #expect(try await call.value == "late")
    }

    @Test func anErrorBeforeTheDeadlineIsUnchanged() async throws {
        struct Own: Error {}
        let fixture = PerformerFixture(.online())
        await #expect(throws: Own.self) {
            try await fixture.performer.perform(completingWithin: .seconds(2)) { throw Own() }
        }
        try await fixture.expectNothingIsLeft()
    }

    @Test func cancellingTheCallerCancelsTheOperationAndKeepsItsError() async throws {
        let fixture = PerformerFixture(.online())
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(2)) { try await Self.untilCancelled() }
        }
        try await eventually { fixture.performer.census.running == 1 }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        try await fixture.expectNothingIsLeft()
    }

    @Test func theOperationSeesWhatTimeIsLeft() async throws {
        let fixture = PerformerFixture(.offline())
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(5)) {
                OperationDeadline.current?.remaining
            }
        }
        try await fixture.clock.advance(by: .seconds(2))
        fixture.monitor.goOnline()
        #expect(try await call.value == .seconds(3))
        #expect(OperationDeadline.current == nil)
    }

    @Test func anInnerOperationHasNoMoreTimeThanTheOneAround() async throws {
        let performer = PerformerFixture(.online()).performer
        let remaining = try await performer.perform(completingWithin: .seconds(5)) {
            try await performer.perform(completingWithin: .seconds(60)) { OperationDeadline.current?.remaining }
        }
        #expect(remaining == .seconds(5))
    }

    @Test func aTaskThatOutlivesItsOperationHasNoDeadlineOfIt() async throws {
        let fixture = PerformerFixture(.online())
        let mayLook = Gate()
        let task = try await fixture.performer.perform(completingWithin: .seconds(1)) {
            Task {
                await mayLook.wait()
                let isOutside = OperationDeadline.current == nil
                let remaining = try await fixture.performer.perform(completingWithin: .seconds(10)) {
                    OperationDeadline.current?.remaining
                }
                return (isOutside, remaining)
            }
        }
        fixture.clock.move(by: .seconds(2))
        mayLook.open()
        let (isOutside, remaining) = try await task.value
        #expect(isOutside)
        #expect(remaining == .seconds(10))
    }

    @Test func aTaskThatOutlivesTheInnerOperationHasTheDeadlineOfTheOuterOne() async throws {
        let fixture = PerformerFixture(.online())
        let remaining = try await fixture.performer.perform(completingWithin: .seconds(5)) {
            let mayLook = Gate()
            let task = try await fixture.performer.perform(completingWithin: .seconds(1)) {
                Task {
                    await mayLook.wait()
                    return OperationDeadline.current?.remaining
                }
            }
            mayLook.open()
            return await task.value
        }
        #expect(remaining == .seconds(5))
    }

    /// Each operation begins the next one in a task of its own, and ends.
    @Test(arguments: [nil, 1]) func operationsThatFollowEachOtherKeepNothingOfThoseBefore(limit: Int?) async throws {
        let clocks = Locked<[Weak<ManualClock>]>([])
        let (isThird, mayEnd) = (Gate(), Gate())
        @Sendable func begin(_ number: Int) async throws {
            let fixture = PerformerFixture(.online(), maximumRunning: limit)
            clocks.withLock { $0.append(Weak(fixture.clock)) }
            try await fixture.performer.perform(completingWithin: .seconds(1)) {
                if number < 3 { Task { try await begin(number + 1) } } else { isThird.open() }
                if number == 3 { await mayEnd.wait() }
            }
        }
        try await begin(1)
        await isThird.wait()
        try await eventually { clocks.withLock { $0[0].value == nil } }
        mayEnd.open()
    }

    @Test func anErrorBeforeTheDeadlineIsUnchangedThoughTheCallerIsBusyThen() async throws {
        struct Own: Error {}
        let fixture = PerformerFixture(.online())
        let queue = JobQueue()
        let (hasThrown, outcome) = (Locked(false), Locked<(any Error)?>(nil))
        // The caller's executor, which is the operation's too, runs when the test says so.
        Task(executorPreference: queue) {
            do {
                try await fixture.performer.perform(completingWithin: .seconds(2)) {
                    hasThrown.withLock { $0 = true }
                    throw Own()
                }
            } catch {
                outcome.withLock { $0 = error }
            }
        }
        try await eventually {
            if !hasThrown.withLock({ $0 }) { queue.run() }
            return hasThrown.withLock { $0 }
        }
        try await eventually {
            queue.run()
            return fixture.performer.census.running == 0
        }
        fixture.clock.move(by: .seconds(10))
        try await eventually {
            queue.run()
            return outcome.withLock { $0 } != nil
        }
        #expect(outcome.withLock { $0 } is Own)
    }

    @Test func theOperationPrefersItsCallersExecutor() async throws {
        let queue = JobQueue()
        let wasOnQueue = Locked<Bool?>(nil)
        let performer = PerformerFixture(.online()).performer
        Task(executorPreference: queue) {
            try await performer.perform(completingWithin: .seconds(2)) {
                wasOnQueue.withLock { $0 = queue.isRunning }
            }
        }
        try await eventually {
            queue.run()
            return wasOnQueue.withLock { $0 } != nil
        }
        #expect(wasOnQueue.withLock { $0 } == true)
    }

    @Test func withoutALimitNothingIsArmed() async throws {
        let fixture = PerformerFixture(.online())
        let remaining = try await fixture.performer.perform(completingWithin: .seconds(Int64.max)) {
            #expect(!fixture.performer.census.isArmed)
            return OperationDeadline.current?.remaining
        }
        #expect(remaining == nil)
    }

    @Test func performNetworkOperationRunsOnceAndCancelsAtTheDeadline() async throws {
        let fixture = PerformerFixture(.online())
        let call = Task {
            try await fixture.performer.performNetworkOperation(
                using: {
                    _ = fixture.count()
                    while !Task.isCancelled { await Task.yield() }
                }, withinSeconds: 2)
        }
        try await fixture.clock.advance(by: .seconds(2))
        try await call.value
        #expect(fixture.runCount == 1)
    }

    @Test func performNetworkOperationOfflineTimesOut() async throws {
        let fixture = PerformerFixture(.offline())
        let call = Task {
            try await fixture.performer.performNetworkOperation(using: { _ = fixture.count() }, withinSeconds: 0.5)
        }
        try await fixture.clock.advance(by: .milliseconds(500))
        let error = await #expect(throws: NetworkOperationError.self) { try await call.value }
        #expect(error?.code == .timedOut)
        #expect(fixture.runCount == 0)
    }
}

/// An object that is not kept.
struct Weak<Object: AnyObject & Sendable>: Sendable {
    private(set) weak var value: Object?

    init(_ value: Object?) { self.value = value }
}
