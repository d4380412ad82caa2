// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct PerformerLossTests {
    /// Runs until it is cancelled.
    @Sendable private static func untilCancelled() async { while !Task.isCancelled { await Task.yield() } }

    @Test func leftAloneTheOperationSeesNothingOfTheLoss() async throws {
        let fixture = PerformerFixture(.online())
        let value = try await fixture.performer.perform(completingWithin: .seconds(1), onLoss: .leave) {
            fixture.monitor.goOffline()
            for _ in 0..<100 { await Task.yield() }
            return Task.isCancelled
        }
        #expect(!value)
        #expect(fixture.monitor.starts == 0)
    }

    @Test(arguments: [false, true])
    func theLossCancelsTheOperationAndItsErrorIsNetworkLost(comesLater: Bool) async throws {
        let fixture = PerformerFixture(comesLater ? .offline() : .online())
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(5), onLoss: .cancel) {
                await Self.untilCancelled()
                try Task.checkCancellation()
            }
        }
        if comesLater {
            try await fixture.waitForCalls(1)
            fixture.monitor.goOnline()
        }
        try await eventually { fixture.performer.census.running == 1 && fixture.monitor.isObserved }
        fixture.monitor.goOffline()
        let error = await #expect(throws: NetworkOperationError.self) { try await call.value }
        #expect(error?.code == .networkLost)
        #expect(error?.underlyingError is CancellationError)
        try await fixture.expectNothingIsLeft()
    }

    @Test func aLossBeforeTheSubscriptionIsNotMissed() async throws {
        let fixture = PerformerFixture(.online())
        let error = await #expect(throws: NetworkOperationError.self) {
            try await fixture.performer.perform(within: .zero, onLoss: .cancel) {
                fixture.monitor.goOffline()
                await Self.untilCancelled()
                try Task.checkCancellation()
            }
        }
        #expect(error?.code == .networkLost)
        try await fixture.expectNothingIsLeft()
    }

    @Test func whatCountsIsTheRequirement() async throws {
        let fixture = PerformerFixture(.online(ipv6: true))
        let wasCancelled = Task {
            try await fixture.performer.perform(completingWithin: .seconds(5), requiring: .ipv6, onLoss: .cancel) {
                await Self.untilCancelled()
                return "delivered"
            }
        }
        try await eventually { fixture.performer.census.running == 1 && fixture.monitor.isObserved }
        fixture.monitor.send(.online(interface: "wlan0", ipv6: true))
        for _ in 0..<100 { await Task.yield() }
        #expect(fixture.performer.census.running == 1)
        fixture.monitor.send(.online())
        #expect(try await wasCancelled.value == "delivered")
        try await fixture.expectNothingIsLeft()
    }

    @Test func theMonitorsEndIsNoLoss() async throws {
        let fixture = PerformerFixture(.online())
        let gate = Gate()
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(5), onLoss: .cancel) {
                await gate.wait()
                return Task.isCancelled
            }
        }
        try await eventually { fixture.performer.census.running == 1 && fixture.monitor.isObserved }
        fixture.monitor.stop()
        try await eventually { !fixture.performer.census.isSubscribed }
        gate.open()
        #expect(try await !call.value)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct PerformerRetryTests {
    private struct Broken: NetworkFailure { let isNetworkFailure: Bool }

    /// Pauses of exactly one second, then two, then four.
    private static func policy(attempts: Int = 5) -> RetryPolicy {
        RetryPolicy(maximumAttempts: attempts, initialPause: .seconds(1), random: { 1 })
    }

    @Test func lostItRunsAgainWhenTheNetworkIsBack() async throws {
        let fixture = PerformerFixture(.online())
        let call = Task {
            await fixture.performer.performReporting(completingWithin: .seconds(60), onLoss: .retry(Self.policy())) {
                if fixture.count() > 1 { return OperationDeadline.current?.remaining }
                while !Task.isCancelled { await Task.yield() }
                throw CancellationError()
            }
        }
        try await eventually { fixture.runCount == 1 && fixture.monitor.isObserved }
        fixture.clock.move(by: .seconds(3))
        fixture.monitor.goOffline()
        try await eventually { fixture.performer.census.waiting == 1 && fixture.monitor.isObserved }
        try await fixture.clock.advance(by: .seconds(10))
        fixture.monitor.goOnline()
        let report = await call.value
        #expect(try report.result.get() == .seconds(47))
        #expect(report.attempts.map(\.ran) == [.seconds(3), .zero])
        #expect(report.attempts.map(\.waited) == [.zero, .seconds(10)])
        #expect(report.attempts.map(\.lostNetwork) == [true, false])
        #expect(report.attempts.map { $0.error == nil } == [false, true])
        try await fixture.expectNothingIsLeft()
    }

    /// The network was there all the time, so it is not what is told.
    @Test func whatCannotRunAgainHasItsOwnError() async throws {
        let fixture = PerformerFixture(.online())
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(60), onLoss: .retry(Self.policy())) {
                _ = fixture.count()
                throw Broken(isNetworkFailure: true)
            }
        }
        try await eventually { fixture.runCount == 1 && fixture.performer.census.waiting == 1 }
        fixture.monitor.stop()
        await #expect(throws: Broken.self) { try await call.value }
        #expect(fixture.runCount == 1)
        try await fixture.expectNothingIsLeft()
    }

    @Test func itWaitsInsideTheSameDeadline() async throws {
        let fixture = PerformerFixture(.online())
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(5), onLoss: .retry(Self.policy())) {
                _ = fixture.count()
                while !Task.isCancelled { await Task.yield() }
                try Task.checkCancellation()
            }
        }
        try await eventually { fixture.runCount == 1 && fixture.monitor.isObserved }
        fixture.clock.move(by: .seconds(3))
        fixture.monitor.goOffline()
        try await eventually { fixture.performer.census.waiting == 1 && fixture.monitor.isObserved }
        try await fixture.clock.advance(by: .seconds(2))
        let error = await #expect(throws: NetworkOperationError.self) { try await call.value }
        #expect(error?.code == .networkLost)
        #expect(error?.underlyingError is CancellationError)
        #expect(fixture.clock.now.offset == .seconds(5))
        #expect(fixture.runCount == 1)
        try await fixture.expectNothingIsLeft()
    }

    @Test func aNetworkFailureIsTriedAgainAfterPausesUntilTheLastAttempt() async throws {
        let fixture = PerformerFixture(.online())
        let call = Task {
            await fixture.performer.performReporting(
                completingWithin: .seconds(60), onLoss: .retry(Self.policy(attempts: 3))
            ) {
                _ = fixture.count()
                throw Broken(isNetworkFailure: true)
            }
        }
        for (attempt, pause) in [(1, Duration.seconds(1)), (2, .seconds(2))] {
            try await eventually { fixture.performer.census.waiting == 1 && fixture.clock.sleepers.count == 1 }
            #expect(fixture.runCount == attempt)
            try await eventually { fixture.clock.sleepers.first?.contains("\(pause)") == true }
            try await fixture.clock.advance(by: pause)
        }
        let report = await call.value
        #expect(throws: Broken.self) { try report.result.get() }
        #expect(report.attempts.map(\.waited) == [.zero, .seconds(1), .seconds(2)])
        #expect(fixture.runCount == 3)
        try await fixture.expectNothingIsLeft()
    }

    @Test func anotherErrorIsThrownUnchanged() async throws {
        let fixture = PerformerFixture(.online())
        await #expect(throws: Broken.self) {
            try await fixture.performer.perform(completingWithin: .seconds(60), onLoss: .retry()) {
                _ = fixture.count()
                throw Broken(isNetworkFailure: false)
            }
        }
        #expect(fixture.runCount == 1)
        try await fixture.expectNothingIsLeft()
    }

    @Test func aClosureMaySayWhatTheNetworksErrorsAre() async throws {
        struct Own: Error {}
        let fixture = PerformerFixture(.online())
        let policy = RetryPolicy(maximumAttempts: 4, initialPause: .zero, isNetworkFailure: { $0 is Own })
        let value = try await fixture.performer.perform(within: .zero, onLoss: .retry(policy)) {
            if fixture.count() < 3 { throw Own() }
            return "value"
        }
        #expect(value == "value" && fixture.runCount == 3)
        let other = PerformerFixture(.online())
        let report = await other.performer.performReporting(completingWithin: .seconds(1), onLoss: .retry(policy)) {
            if other.count() < 4 { throw Own() }
        }
        #expect(report.attempts.count == 4)
        #expect(throws: Never.self) { try report.result.get() }
    }

    @Test func noPauseIsBegunThatEndsAfterTheDeadline() async throws {
        let fixture = PerformerFixture(.online())
        await #expect(throws: Broken.self) {
            try await fixture.performer.perform(completingWithin: .milliseconds(900), onLoss: .retry(Self.policy())) {
                _ = fixture.count()
                throw Broken(isNetworkFailure: true)
            }
        }
        #expect(fixture.runCount == 1)
        #expect(fixture.clock.now.offset == .zero)
        try await fixture.expectNothingIsLeft()
    }

    @Test func theDeadlineEndsTheLastRunToo() async throws {
        let fixture = PerformerFixture(.online())
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(5), onLoss: .retry(Self.policy())) {
                while !Task.isCancelled { await Task.yield() }
                try Task.checkCancellation()
            }
        }
        try await fixture.clock.advance(by: .seconds(5))
        let error = await #expect(throws: NetworkOperationError.self) { try await call.value }
        #expect(error?.code == .deadlineExceeded)
        try await fixture.expectNothingIsLeft()
    }

    @Test func cancelledBetweenTwoRunsItEndsAsCancelled() async throws {
        let fixture = PerformerFixture(.online())
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(60), onLoss: .retry(Self.policy())) {
                _ = fixture.count()
                throw Broken(isNetworkFailure: true)
            }
        }
        try await eventually { fixture.performer.census.waiting == 1 && fixture.runCount == 1 }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(fixture.runCount == 1)
        try await fixture.expectNothingIsLeft()
    }

    @Test func cancelledWhileItRunsItDoesNotRunAgain() async throws {
        let fixture = PerformerFixture(.online())
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(60), onLoss: .retry(Self.policy())) {
                _ = fixture.count()
                while !Task.isCancelled { await Task.yield() }
                throw Broken(isNetworkFailure: true)
            }
        }
        try await eventually { fixture.runCount == 1 }
        call.cancel()
        await #expect(throws: Broken.self) { try await call.value }
        #expect(fixture.runCount == 1)
        try await fixture.expectNothingIsLeft()
    }

    @Test func aPolicyWithoutAttemptsIsAnError() async throws {
        let fixture = PerformerFixture(.online())
        let error = await #expect(throws: NetworkOperationError.self) {
            try await fixture.performer.perform(within: .zero, onLoss: .retry(Self.policy(attempts: 0))) {
                fixture.count()
            }
        }
        #expect(error?.code == .invalidArgument)
        #expect(fixture.runCount == 0)
    }

    @Test func theSlotIsFreeDuringThePause() async throws {
        let fixture = PerformerFixture(.online(), maximumRunning: 1)
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(60), onLoss: .retry(Self.policy())) {
                if fixture.count() == 1 { throw Broken(isNetworkFailure: true) }
            }
        }
        // An alarm set while the other call is in the table would be for that one, and stay.
        try await eventually("\(fixture.clock.sleepers) \(fixture.performer.census)") {
            fixture.clock.sleepers.first?.contains(" 1.0") == true
        }
        #expect(fixture.performer.census.waiting == 1 && fixture.runCount == 1)
        #expect(try await fixture.start(withinSeconds: 0).value.get() == 2)
        try await fixture.clock.advance(by: .seconds(1))
        try await call.value
        #expect(fixture.runCount == 3)
        try await fixture.expectNothingIsLeft()
    }
}
