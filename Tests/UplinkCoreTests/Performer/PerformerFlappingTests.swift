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
        let call = fixture.start(withinSeconds: 3)
        try await fixture.clock.advance(by: .seconds(2))
        // The requirement stands for a path that was there when the grant was made and gone at the last look.
        fixture.monitor.goOnline()
        fixture.monitor.goOffline()
        try await eventually { fixture.performer.census.waiting == 1 || fixture.runCount == 1 }
        if fixture.runCount == 0 {
            try await fixture.clock.advance(by: .seconds(1))
            #expect(await call.value.notStartedCode() == .timedOut)
            #expect(fixture.clock.now.offset == .seconds(3))
        } else {
            #expect(try await call.value.get() == 1)
        }
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
