// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct PerformerManyCallersTests {
    @Test func fiftyWaitersAllRunWhenTheNetworkComes() async throws {
        let fixture = PerformerFixture(.offline())
        let calls = (0..<50).map { _ in fixture.start(withinSeconds: 3) }
        try await fixture.waitForCalls(50)
        try await fixture.clock.advance(by: .milliseconds(100))
        fixture.monitor.goOnline()
        for call in calls { #expect((try? await call.value.get()) != nil) }
        #expect(fixture.runCount == 50)
        #expect(fixture.monitor.starts == 1)
        try await fixture.expectNothingIsLeft()
    }

    @Test func aHundredThousandWaitersAllRunOnceWhenTheNetworkComes() async throws {
        let (fixture, count) = (PerformerFixture(.offline()), PerformerFixture.multitude)
        let calls = (0..<count).map { _ in fixture.start(withinSeconds: 1000) }
        try await fixture.waitForCalls(count)
        fixture.monitor.goOnline()
        var values: Set<Int> = []
        for call in calls { values.insert(try await call.value.get()) }
        #expect(values.count == count)
        #expect(fixture.runCount == count)
        try await fixture.expectNothingIsLeft()
    }

    @Test func eachWaiterHasItsOwnLimit() async throws {
        let fixture = PerformerFixture(.offline())
        let short = fixture.start(withinSeconds: 0.3)
        let long = fixture.start(withinSeconds: 2)
        try await fixture.waitForCalls(2)
        try await eventually { fixture.clock.sleepers.first?.contains("0.3") == true }
        try await fixture.clock.advance(by: .milliseconds(300))
        #expect(await short.value.notStartedCode() == .timedOut)
        try await fixture.clock.advance(by: .milliseconds(500))
        fixture.monitor.goOnline()
        #expect(try await long.value.get() == 1)
    }

    @Test func aPerformerCanBeUsedAgainAfterEveryOutcome() async throws {
        let fixture = PerformerFixture(.online())
        _ = await fixture.start(withinSeconds: 1).value
        fixture.monitor.goOffline()
        let late = fixture.start(withinSeconds: 1)
        try await fixture.clock.advance(by: .seconds(1))
        _ = await late.value
        let cancelled = fixture.start(withinSeconds: 1)
        try await fixture.waitForCalls(1)
        cancelled.cancel()
        _ = await cancelled.value
        fixture.monitor.goOnline()
        #expect(try await fixture.start(withinSeconds: 1).value.get() == 2)
        try await fixture.expectNothingIsLeft()
    }

    @Test func operationsOfDifferentWaitersRunAtTheSameTime() async throws {
        let fixture = PerformerFixture(.offline())
        let (first, second) = (Gate(), Gate())
        async let one: Void = fixture.performer.perform(within: .seconds(1)) {
            first.open()
            await second.wait()
        }
        async let two: Void = fixture.performer.perform(within: .seconds(1)) {
            second.open()
            await first.wait()
        }
        try await fixture.waitForCalls(2)
        fixture.monitor.goOnline()
        _ = try await (one, two)
    }

    @Test func theMonitorStartsOnceAndPausesWhenTheLastLeaves() async throws {
        let fixture = PerformerFixture(.offline())
        for round in 1...3 {
            let calls = (0..<10).map { _ in fixture.start(withinSeconds: 1) }
            try await fixture.waitForCalls(10)
            #expect(fixture.monitor.starts == round)
            try await fixture.clock.advance(by: .seconds(1))
            for call in calls { _ = await call.value }
            try await fixture.expectNothingIsLeft()
        }
    }

    @Test func grantsAreInOrderOfArrival() async throws {
        let fixture = PerformerFixture(.offline())
        let queue = JobQueue()
        let order = Locked<[Int]>([])
        for index in 0..<20 {
            Task(executorPreference: queue) {
                try await fixture.performer.perform(within: .seconds(10)) { order.withLock { $0.append(index) } }
            }
            queue.run()
            try await fixture.waitForCalls(index + 1)
        }
        fixture.monitor.goOnline()
        try await eventually {
            queue.run()
            return order.withLock { $0.count } == 20
        }
        #expect(order.withLock { $0 } == Array(0..<20))
    }

    @Test func nothingIsLeftAfterTenThousandCallsOfEveryOutcome() async throws {
        let fixture = PerformerFixture(.offline())
        let codes = Locked<[NetworkOperationError.Code?: Int]>([:])
        for round in 0..<100 {
            let ended = Locked(0)
            let calls = (0..<100).map { index in
                Task {
                    let result = await fixture.performer.perform(withinSeconds: Double(index % 3)) { fixture.count() }
                    codes.withLock { $0[result.notStartedCode(), default: 0] += 1 }
                    ended.withLock { $0 += 1 }
                }
            }
            for (index, call) in calls.enumerated() where index % 5 == 0 { call.cancel() }
            if round.isMultiple(of: 2) { fixture.monitor.goOnline() }
            while ended.withLock({ $0 }) < 100 {
                fixture.clock.move(by: .milliseconds(100))
                await Task.yield()
            }
            fixture.monitor.goOffline()
        }
        #expect(Set(codes.withLock { $0.keys }) == [nil, .timedOut, .cancelled])
        #expect(codes.withLock { $0[nil] } == fixture.runCount)
        try await fixture.expectNothingIsLeft()
    }
}
