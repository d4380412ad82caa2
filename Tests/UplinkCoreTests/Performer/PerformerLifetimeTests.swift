// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct PerformerLifetimeTests {
    /// Something that an operation captures.
    private final class Captured: Sendable {
        func use() {}
    }

    @Test func aPerformerAndItsCapturesAreReleasedAfterEveryOutcome() async throws {
        weak var captured: Captured?
        weak var performer: NetworkOperationPerformer?
        weak var monitor: StubNetworkMonitor?
        for isSupervised in [false, true] {
            for outcome in ["value", "timedOut", "cancelled"] {
                do {
                    let fixture = PerformerFixture(outcome == "value" ? .online() : .offline())
                    let object = Captured()
                    (captured, performer, monitor) = (object, fixture.performer, fixture.monitor)
                    let call = Task {
                        if isSupervised {
                            try await fixture.performer.perform(completingWithin: .seconds(1)) { object.use() }
                        } else {
                            try await fixture.performer.perform(within: .seconds(1)) { object.use() }
                        }
                    }
                    switch outcome {
                    case "timedOut": try await fixture.clock.advance(by: .seconds(1))
                    case "cancelled": call.cancel()
                    default: break
                    }
                    _ = await call.result
                }
                // The tasks that served the call end on their own threads.
                try await eventually("released after \(outcome)") {
                    captured == nil && performer == nil && monitor == nil
                }
            }
        }
    }

    /// Which remembers the slot that it ran in, or the deadline.
    @Test(arguments: [nil, 1]) func aTaskThatOutlivesItsOperationDoesNotKeepThePerformer(maximum: Int?) async throws {
        weak var monitor: StubNetworkMonitor?
        let gate = Gate()
        let task: Task<Void, Never>
        do {
            let fixture = PerformerFixture(.online(), maximumRunning: maximum)
            monitor = fixture.monitor
            task = try await fixture.performer.perform(completingWithin: .seconds(1)) { Task { await gate.wait() } }
        }
        try await eventually("the monitor is released") { monitor == nil }
        gate.open()
        await task.value
    }

    @Test func aTemporaryPerformerCompletesItsCall() async throws {
        let monitor = StubNetworkMonitor(.offline())
        let clock = ManualClock()
        let call = Task {
            await NetworkOperationPerformer(monitor: monitor, clock: clock).perform(withinSeconds: 2) { "ran" }
        }
        try await clock.waitForSleepers()
        monitor.goOnline()
        #expect(try await call.value.get() == "ran")
    }

    @Test func performersHearTheirOwnMonitorAlone() async throws {
        let (mine, other) = (PerformerFixture(.offline()), PerformerFixture(.offline()))
        let (call, otherCall) = (mine.start(withinSeconds: 1), other.start(withinSeconds: 1))
        try await mine.waitForCalls(1)
        try await other.waitForCalls(1)
        other.monitor.goOnline()
        #expect(try await otherCall.value.get() == 1)
        try await mine.clock.advance(by: .seconds(1))
        #expect(await call.value.notStartedCode() == .timedOut)
        #expect(mine.runCount == 0)
    }

    @Test func aClockThatFailsDoesNotMakeACallWaitForEver() async throws {
        let performer = NetworkOperationPerformer(monitor: StubNetworkMonitor(.offline()), clock: BrokenClock())
        let result = await performer.perform(withinSeconds: 0.01) {}
        #expect(result.notStartedCode() == .timedOut)
    }
}
