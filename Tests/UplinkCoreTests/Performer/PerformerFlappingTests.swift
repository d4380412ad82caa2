// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct PerformerFlappingTests {
    @Test func flappingDuringTheWaitRunsTheOperationOnce() async throws {
        for _ in 0..<200 {
            let fixture = PerformerFixture(.offline())
            let call = fixture.start(withinSeconds: 10)
            try await fixture.waitForCalls(1)
            for _ in 0..<2 {
                fixture.monitor.goOnline()
                fixture.monitor.goOffline()
            }
            fixture.monitor.goOnline()
            #expect(try await call.value.get() == 1)
            #expect(fixture.runCount == 1)
        }
    }

    @Test func twiceUpInARowRunsTheOperationOnce() async throws {
        let fixture = PerformerFixture(.offline())
        let call = fixture.start(withinSeconds: 10)
        try await fixture.waitForCalls(1)
        fixture.monitor.goOnline()
        fixture.monitor.goOnline()
        #expect(try await call.value.get() == 1)
        #expect(fixture.runCount == 1)
    }

    @Test func aFlapTooShortToStartInGoesOnWaitingWithTheRemainingTime() async throws {
        let fixture = PerformerFixture(.offline())
        let queue = JobQueue()
        let outcome = Locked<NetworkOperationError.Code?>(nil)
        Task(executorPreference: queue) {
            let result = await fixture.performer.perform(withinSeconds: 3) { fixture.count() }
            outcome.withLock { $0 = result.notStartedCode() }
        }
        queue.run()
        try await fixture.waitForCalls(1)
        try await fixture.clock.advance(by: .seconds(2))
        fixture.monitor.goOnline()  // grants, but the caller's executor is busy
        try await eventually { queue.count > 0 }
        fixture.monitor.goOffline()
        queue.run()
        #expect(fixture.performer.census.waiting == 1)
        try await fixture.clock.advance(by: .seconds(1))
        try await eventually {
            queue.run()
            return outcome.withLock { $0 } != nil
        }
        #expect(outcome.withLock { $0 } == .timedOut)
        #expect(fixture.clock.now.offset == .seconds(3))
        #expect(fixture.runCount == 0)
    }

    @Test func losingTheNetworkDoesNotDisturbARunningOperation() async throws {
        let fixture = PerformerFixture(.online())
        let value = try await fixture.performer.perform(within: .seconds(1)) {
            fixture.monitor.goOffline()
            return Task.isCancelled ? "cancelled" : "undisturbed"
        }
        #expect(value == "undisturbed")
    }
}
