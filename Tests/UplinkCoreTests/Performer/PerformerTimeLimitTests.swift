// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import struct UplinkCore.PerformerMachine
@testable import enum UplinkCore.TimeLimit

@Suite(.timeLimit(.minutes(1)))
struct PerformerTimeLimitTests {
    @Test(arguments: [
        (0.5, 500_000_000), (3, 3_000_000_000), (0.3, 300_000_000), (1.1, 1_100_000_000), (1e-3, 1_000_000),
        (1e-9, 1), (1e-12, 1), (.leastNonzeroMagnitude, 1), (0, 0), (-0.0, 0), (-5, 0), (-.infinity, 0),
        (1.0000000005, 1_000_000_001),
    ])
    func secondsCountExactly(_ seconds: Double, nanoseconds: Int64) {
        #expect(TimeLimit(seconds: seconds) == .nanoseconds(nanoseconds))
    }

    @Test(arguments: [Double.infinity, 1e12, .greatestFiniteMagnitude])
    func hugeIsUnlimited(_ seconds: Double) {
        #expect(TimeLimit(seconds: seconds) == .unlimited)
    }

    @Test(arguments: [Double.nan, .signalingNaN])
    func notANumberIsNoLimit(_ seconds: Double) async throws {
        #expect(TimeLimit(seconds: seconds) == nil)
        let fixture = PerformerFixture(.online())
        let result = await fixture.performer.perform(withinSeconds: seconds) { fixture.count() }
        #expect(result.notStartedCode() == .invalidArgument)
        let error = await #expect(throws: NetworkOperationError.self) {
            try await fixture.performer.performNetworkOperation(using: { _ = fixture.count() }, withinSeconds: seconds)
        }
        #expect(error?.code == .invalidArgument)
        #expect(fixture.runCount == 0)
    }

    @Test func durationsCountExactlyToo() {
        #expect(TimeLimit(.milliseconds(1)) == .nanoseconds(1_000_000))
        #expect(TimeLimit(Duration(secondsComponent: 0, attosecondsComponent: 1)) == .nanoseconds(1))
        #expect(TimeLimit(.seconds(-3)) == .nanoseconds(0))
        #expect(TimeLimit(.seconds(Int64.max)) == .unlimited)
        #expect(TimeLimit(.seconds(Int64.min)) == .nanoseconds(0))
        #expect(TimeLimit(.seconds(1e20)) == .unlimited)
        #expect(TimeLimit(.seconds(-1e20)) == .nanoseconds(0))
        #expect(TimeLimit(Duration(secondsComponent: .min, attosecondsComponent: -1)) == .nanoseconds(0))
        #expect(TimeLimit(.nanoseconds(Int64.max - 1)) == .nanoseconds(.max - 1))
    }

    @Test func deadlinesDoNotOverflow() {
        #expect(TimeLimit.nanoseconds(.max - 1).deadline(from: 2) == .max)
        #expect(TimeLimit.unlimited.deadline(from: 2) == .max)
        #expect(TimeLimit.nanoseconds(1).deadline(from: 2) == 3)
    }

    @Test(arguments: [Double.infinity, 1e12, .greatestFiniteMagnitude])
    func unlimitedWaitsArmNoTimerAndCanBeCancelled(_ seconds: Double) async throws {
        let fixture = PerformerFixture(.offline())
        let call = fixture.start(withinSeconds: seconds)
        try await fixture.waitForCalls(1)
        #expect(!fixture.performer.census.isArmed)
        call.cancel()
        #expect(await call.value.notStartedCode() == .cancelled)
        try await fixture.expectNothingIsLeft()
    }

    @Test func theTimeCountsFromTheCall() async throws {
        let fixture = PerformerFixture(.offline())
        fixture.clock.move(by: .seconds(100))
        let call = fixture.start(withinSeconds: 2)
        try await fixture.clock.advance(by: .seconds(2))
        #expect(await call.value.notStartedCode() == .timedOut)
        #expect(fixture.clock.now.offset == .seconds(102))
    }

    @Test func oneTimerServesAllWaitersTheEarliestDeadlineFirst() async throws {
        let fixture = PerformerFixture(.offline())
        let long = fixture.start(withinSeconds: 50)
        try await fixture.waitForCalls(1)
        let calls = (1...20).map { fixture.start(withinSeconds: Double($0)) }
        try await fixture.waitForCalls(21)
        try await eventually {
            let sleepers = fixture.clock.sleepers  // once: they may be others the next moment
            return sleepers.count == 1 && sleepers[0].contains("1.0")
        }
        for call in calls {
            try await fixture.clock.advance(by: .seconds(1))
            #expect(await call.value.notStartedCode() == .timedOut)
            #expect(fixture.clock.sleepers.count <= 1)
        }
        long.cancel()
        _ = await long.value
        try await fixture.expectNothingIsLeft()
    }
}
