// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct PerformerHandleTests {
    private struct Own: Error {}

    @Test func theOperationStartsWhenTheNetworkComes() async throws {
        let fixture = PerformerFixture(.offline())
        let handle = fixture.performer.start(within: .seconds(3)) { fixture.count() }
        try await fixture.clock.advance(by: .seconds(1))
        #expect(fixture.runCount == 0)
        fixture.monitor.goOnline()
        #expect(try await handle.value == 1)
        #expect(try await handle.outcome.get() == 1)
        try await fixture.expectNothingIsLeft()
    }

    @Test func theTimeCountsFromTheStartThoughTheTaskIsLate() async throws {
        let fixture = PerformerFixture(.offline())
        let queue = JobQueue()
        let handle = Locked<NetworkOperationHandle<Int>?>(nil)
        Task(executorPreference: queue) {
            handle.withLock { $0 = fixture.performer.start(within: .seconds(3)) { fixture.count() } }
        }
        queue.run()
        #expect(fixture.performer.statistics.waiting == 1)
        fixture.clock.move(by: .seconds(3))
        let outcome = Locked<Result<Int, PerformFailure<any Error>>?>(nil)
        Task {
            let result = await handle.withLock { $0 }?.outcome
            outcome.withLock { $0 = result }
        }
        try await eventually {
            queue.run()
            return outcome.withLock { $0 } != nil
        }
        let missing = try #require(outcome.withLock { $0 }).missing()
        #expect(missing == .path)
        #expect(fixture.runCount == 0)
    }

    @Test func whatIsSoAtTheStartCountsThoughTheTaskIsLate() async throws {
        let fixture = PerformerFixture(.offline())
        let queue = JobQueue()
        let handles = Locked<[NetworkOperationHandle<Int>]>([])
        Task(executorPreference: queue) {
            for path in [NetworkPath.offline(), .online()] {
                fixture.monitor.send(path)
                let handle = fixture.performer.start(within: .seconds(3)) { fixture.count() }
                handles.withLock { $0.append(handle) }
            }
        }
        while handles.withLock({ $0.count < 2 }) { queue.runOne() }
        fixture.clock.move(by: .seconds(4))
        let outcomes = Task {
            var missing: [NetworkOperationError.Missing?] = []
            for handle in handles.withLock({ $0 }) { missing.append(await handle.outcome.missing()) }
            return missing
        }
        let isOver = Locked(false)
        Task {
            _ = await outcomes.value
            isOver.withLock { $0 = true }
        }
        try await eventually {
            queue.run()
            return isOver.withLock { $0 }
        }
        #expect(await outcomes.value == [.path, nil])
        #expect(fixture.runCount == 1)
    }

    /// The path was not known at the start, and what is seen when all time is over is not that of the start.
    @Test func aPathThatIsSeenTooLateStartsNothing() async throws {
        let fixture = PerformerFixture(nil)
        let queue = JobQueue()
        let handle = Locked<NetworkOperationHandle<Int>?>(nil)
        Task(executorPreference: queue) {
            handle.withLock { $0 = fixture.performer.start(within: .seconds(3)) { fixture.count() } }
        }
        while handle.withLock({ $0 == nil }) { queue.runOne() }
        fixture.clock.move(by: .seconds(60))
        fixture.monitor.goOnline()
        let missing = Locked<NetworkOperationError.Missing?>(nil)
        Task {
            let result = await handle.withLock { $0 }?.outcome.missing()
            missing.withLock { $0 = result }
        }
        try await eventually {
            queue.run()
            return missing.withLock { $0 } != nil || fixture.runCount > 0
        }
        #expect(missing.withLock { $0 } == .path)
        #expect(fixture.runCount == 0)
    }

    /// Whatever a requirement's closure holds goes with the call, and may ask the performer on its way.
    @Test func whatARequirementHoldsDoesNotEndUnderThePerformersLock() async throws {
        final class Asker: Sendable {
            let performer: NetworkOperationPerformer
            let hasAsked: Locked<Bool>
            init(_ performer: NetworkOperationPerformer, _ hasAsked: Locked<Bool>) {
                (self.performer, self.hasAsked) = (performer, hasAsked)
            }
            deinit {
                _ = performer.statistics
                hasAsked.withLock { $0 = true }
            }
        }
        for path in [NetworkPath.online(), .offline()] {
            let (fixture, hasAsked) = (PerformerFixture(path), Locked(false))
            func start() -> NetworkOperationHandle<Int> {
                let asker = Asker(fixture.performer, hasAsked)
                let requirement = NetworkRequirement.predicate("asks") { path in
                    withExtendedLifetime(asker) { path.isSatisfied }
                }
                return fixture.performer.start(within: .zero, requiring: requirement) { fixture.count() }
            }
            _ = await start().outcome
            try await eventually { hasAsked.withLock { $0 } }
        }
    }

    @Test func handlesGetTheirTurnInTheOrderOfTheirStarts() async throws {
        let fixture = PerformerFixture(.online(), maximumRunning: 1)
        let (gate, order) = (Gate(), Locked<[Int]>([]))
        let holder = fixture.performer.start(within: .seconds(1)) { await gate.wait() }
        try await eventually { fixture.performer.statistics.running == 1 }
        let handles = (0..<20).map { index in
            fixture.performer.start(within: .seconds(1)) { order.withLock { $0.append(index) } }
        }
        // Each has looked at the path and stands in the line.
        try await eventually { fixture.performer.census.inLine == 20 }
        gate.open()
        try await holder.value
        for handle in handles { try await handle.value }
        #expect(order.withLock { $0 } == Array(0..<20))
        try await fixture.expectNothingIsLeft()
    }

    @Test func cancelEndsTheWaitAndMayBeCalledByAnyoneAnyNumberOfTimes() async throws {
        let fixture = PerformerFixture(.offline())
        let handle = fixture.performer.start(within: .seconds(3)) { fixture.count() }
        try await fixture.waitForCalls(1)
        await withTaskGroup { group in for _ in 0..<50 { group.addTask { handle.cancel() } } }
        #expect(await handle.outcome.notStartedCode() == .cancelled)
        await #expect(throws: CancellationError.self) { try await handle.value }
        handle.cancel()
        fixture.monitor.goOnline()
        #expect(fixture.runCount == 0)
        try await fixture.expectNothingIsLeft()
    }

    @Test(arguments: [NetworkPath.online(), .offline()])
    func cancelAtOnceIsOneOutcome(_ path: NetworkPath) async throws {
        for _ in 0..<200 {
            let fixture = PerformerFixture(path)
            let handle = fixture.performer.start(within: .seconds(3)) { fixture.count() }
            handle.cancel()
            switch await handle.outcome {
            case .success: #expect(fixture.runCount == 1)
            case .failure(.notStarted(let error)):
                #expect(error.code == .cancelled)
                #expect(fixture.runCount == 0)
            case .failure(.operation): Issue.record("it does not throw")
            }
            #expect(fixture.performer.census == PerformerCensus())
        }
    }

    @Test func cancelReachesARunningOperationWhoseOutcomeCounts() async throws {
        let fixture = PerformerFixture(.online())
        let handle = fixture.performer.start(within: .zero) {
            while !Task.isCancelled { await Task.yield() }
            throw Own()
        }
        try await eventually { fixture.performer.statistics.running == 1 }
        handle.cancel()
        await #expect(throws: Own.self) { try await handle.value }
        try await fixture.expectNothingIsLeft()
    }

    @Test func droppedItRunsOnAndLeaksNothing() async throws {
        final class Captured: Sendable {}
        weak var captured: Captured?
        weak var performer: NetworkOperationPerformer?
        let gate = Gate()
        let monitor = StubNetworkMonitor(.offline())
        let ran = Locked(false)
        do {
            let object = Captured()
            let temporary = NetworkOperationPerformer(monitor: monitor, clock: ManualClock())
            (captured, performer) = (object, temporary)
            temporary.start(within: .seconds(1)) {
                await gate.wait()
                withExtendedLifetime(object) { ran.withLock { $0 = true } }
            }
        }
        try await eventually { monitor.isObserved }
        monitor.goOnline()
        gate.open()
        try await eventually { ran.withLock { $0 } && captured == nil && performer == nil && !monitor.isObserved }
    }

    @Test func aBadPerformerIsToldInTheOutcome() async throws {
        let fixture = PerformerFixture(.online(), maximumRunning: 0)
        let handle = fixture.performer.start(within: .seconds(3)) { fixture.count() }
        #expect(await handle.outcome.notStartedCode() == .invalidArgument)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct PerformerStatisticsTests {
    @Test func theyTellWhatIsAndWhatWas() async throws {
        let fixture = PerformerFixture(.offline())
        let (gate, performer) = (Gate(), fixture.performer)
        let late = performer.start(within: .seconds(1)) {}
        let lasting = performer.start(within: .seconds(10)) { await gate.wait() }
        let cancelled = performer.start(within: .seconds(10)) {}
        try await fixture.waitForCalls(3)
        #expect(performer.statistics.waiting == 3)
        try await eventually { fixture.clock.sleepers.first?.contains("1.0") == true }
        try await fixture.clock.advance(by: .seconds(1))
        _ = await late.outcome
        cancelled.cancel()
        _ = await cancelled.outcome
        fixture.monitor.goOnline()
        try await eventually { performer.statistics.running == 1 }
        let before = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = await performer.perform(withinSeconds: 1) {}
        }
        await before.value
        let now = performer.statistics
        #expect((now.waiting, now.running, now.granted, now.timedOut, now.cancelled) == (0, 1, 1, 1, 2))
        gate.open()
        try await lasting.value
        #expect(performer.statistics.running == 0)
        #expect(performer.statistics.granted == 1)
    }
}
