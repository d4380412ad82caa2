// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct PerformerStartTests {
    @Test func onlineTheOperationRunsOnceAndItsValueReturns() async throws {
        let fixture = PerformerFixture(.online())
        let result = await fixture.performer.perform(withinSeconds: 3) { fixture.count() }
        #expect(try result.get() == 1)
        #expect(fixture.clock.now.offset == .zero)
        try await fixture.expectNothingIsLeft()
    }

    @Test func knownOnlineTheOperationStartsWithoutASubscription() async throws {
        let fixture = PerformerFixture(.online())
        _ = await fixture.performer.perform(withinSeconds: 3) {}
        #expect(fixture.monitor.starts == 0)
    }

    @Test func offlineForEverTimesOutExactlyAtTheLimit() async throws {
        let fixture = PerformerFixture(.offline())
        let call = fixture.start(withinSeconds: 3)
        try await fixture.clock.advance(by: .seconds(3) - .nanoseconds(1))
        #expect(fixture.performer.census.waiting == 1)
        try await fixture.clock.advance(by: .nanoseconds(1))
        #expect(await call.value.notStartedCode() == .timedOut)
        fixture.monitor.goOnline()
        #expect(fixture.runCount == 0)
        try await fixture.expectNothingIsLeft()
    }

    @Test func aNetworkThatComesInTimeStartsTheOperationThen() async throws {
        let fixture = PerformerFixture(.offline())
        let call = fixture.start(withinSeconds: 3)
        try await fixture.clock.advance(by: .seconds(1))
        #expect(fixture.runCount == 0)
        fixture.monitor.goOnline()
        #expect(try await call.value.get() == 1)
        #expect(fixture.clock.now.offset == .seconds(1))
        try await fixture.expectNothingIsLeft()
    }

    @Test func aNetworkThatComesTooLateNeverStartsTheOperation() async throws {
        let fixture = PerformerFixture(.offline())
        let call = fixture.start(withinSeconds: 3)
        try await fixture.clock.advance(by: .seconds(4))
        fixture.monitor.goOnline()
        #expect(await call.value.notStartedCode() == .timedOut)
        #expect(fixture.runCount == 0)
    }

    @Test func theFirstAnswerIsWaitedForAlsoWithTimeoutZero() async throws {
        let fixture = PerformerFixture(nil)
        let call = fixture.start(withinSeconds: 0)
        try await fixture.clock.waitForSleepers()
        fixture.monitor.goOnline()
        #expect(try await call.value.get() == 1)
    }

    @Test func theFirstAnswerMayTakeTimeWithinTheGraceAlsoWithTimeoutZero() async throws {
        let fixture = PerformerFixture(nil)
        let call = fixture.start(withinSeconds: 0)
        try await fixture.clock.advance(by: .milliseconds(5))
        fixture.monitor.goOnline()
        #expect(try await call.value.get() == 1)
        try await fixture.expectNothingIsLeft()
    }

    @Test func aFirstAnswerThatSaysOfflineEndsATimeoutOfZeroAtOnce() async throws {
        let fixture = PerformerFixture(nil)
        let call = fixture.start(withinSeconds: 0)
        try await fixture.clock.waitForSleepers()
        fixture.monitor.goOffline()
        #expect(await call.value.notStartedCode() == .timedOut)
        #expect(fixture.clock.now.offset == .zero)
        try await fixture.expectNothingIsLeft()
    }

    @Test func aMonitorThatStaysSilentCountsAsAwayAfterAGrace() async throws {
        let fixture = PerformerFixture(nil)
        let call = fixture.start(withinSeconds: 0)
        try await fixture.clock.advance(by: .milliseconds(100))
        #expect(await call.value.notStartedCode() == .timedOut)
        try await fixture.expectNothingIsLeft()
    }

    @Test func aMonitorMayTakeAsLongAsItSaysForItsFirstPath() async throws {
        let clock = ManualClock()
        let monitor = SlowMonitor()
        let performer = NetworkOperationPerformer(monitor: monitor, clock: clock)
        let call = Task { try await performer.perform(within: .milliseconds(10)) { "ran" } }
        try await clock.advance(by: .seconds(4))
        monitor.broadcaster.send(.online())
        #expect(try await call.value == "ran")
    }

    @Test func aPathThatIsForgottenBeforeTheStartIsAskedForAnew() async throws {
        let fixture = PerformerFixture(nil)
        let queue = JobQueue()
        let outcome = Locked<String?>(nil)
        Task(executorPreference: queue) {
            outcome.withLock { $0 = "no outcome" }
            let result = await fixture.performer.perform(withinSeconds: 0) { "ran" }
            outcome.withLock { $0 = (try? result.get()) ?? "did not run" }
        }
        queue.run()
        try await fixture.waitForCalls(1)
        fixture.monitor.goOnline()  // grants, but the caller's executor is busy
        try await eventually { queue.count > 0 }
        fixture.monitor.forget()
        queue.run()
        #expect(outcome.withLock { $0 } == "no outcome")
        fixture.monitor.goOnline()
        try await eventually {
            queue.run()
            return outcome.withLock { $0 } != "no outcome"
        }
        #expect(outcome.withLock { $0 } == "ran")
    }

    @Test func timeoutZeroKnownOfflineEndsAtOnce() async throws {
        let fixture = PerformerFixture(.offline())
        let result = await fixture.performer.perform(withinSeconds: 0) { fixture.count() }
        #expect(result.notStartedCode() == .timedOut)
        #expect(fixture.runCount == 0)
        #expect("\(result)".contains("no route"), "the path that was seen is told")
    }

    @Test func offlineAfterHavingBeenOnlineACallWaits() async throws {
        let fixture = PerformerFixture(.online())
        _ = await fixture.performer.perform(withinSeconds: 1) {}
        fixture.monitor.goOffline()
        let call = fixture.start(withinSeconds: 1)
        try await fixture.clock.waitForSleepers()
        fixture.monitor.goOnline()
        #expect(try await call.value.get() == 1)
    }

    @Test func aThrowingOperationsErrorIsUnchanged() async throws {
        struct Own: Error, Equatable {}
        let performer = PerformerFixture(.online()).performer
        await #expect(throws: Own()) { try await performer.perform(within: .seconds(1)) { throw Own() } }
        let result: Result<Int, PerformFailure<Own>> = await performer.perform(withinSeconds: 1) {
            () throws(Own) -> Int in throw Own()
        }
        guard case .failure(.operation(let error)) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(error == Own())
    }

    @Test func anInnerTimeoutIsNotConfusedWithTheOuter() async throws {
        let (outer, inner) = (PerformerFixture(.online()), PerformerFixture(.offline()))
        let result = await outer.performer.perform(withinSeconds: 1) {
            try await inner.performer.perform(within: .zero) {}
        }
        guard case .failure(.operation(let error as NetworkOperationError)) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(error.code == .timedOut)
    }

    @Test func anOperationThatReturnsNilSucceeded() async throws {
        let result = await PerformerFixture(.online()).performer.perform(withinSeconds: 1) { Int?.none }
        #expect(try result.get() == nil)
    }

    @Test func performingInsideAnOperationWorks() async throws {
        let fixture = PerformerFixture(.online())
        let value = try await fixture.performer.perform(within: .seconds(1)) {
            try await fixture.performer.perform(within: .seconds(1)) { "inner" }
        }
        #expect(value == "inner")
    }

    @Test(arguments: [
        (NetworkRequirement.ipv4, NetworkPath.online(ipv4: true), NetworkPath.online(ipv4: false, ipv6: true)),
        (.ipv6, .online(ipv6: true), .online(ipv6: false)),
        (.bothFamilies, .online(ipv6: true), .online(ipv6: false)),
        (.localNetwork, .online(ipv4: false, ipv6: false), .offline()),
        (.interface("wlan0"), .online(interface: "wlan0"), .online(interface: "eth0")),
        (.interfaceKind(.wifi), .online(kind: .wifi), .online(kind: .ethernet)),
        (.notMetered, .online(), .online(isExpensive: true)),
        (.predicate("generation 2") { $0.generation == 2 }, .online(), .online()),
        (.ipv6.and(.notMetered), .online(ipv6: true), .online(ipv6: true, isExpensive: true)),
    ])
    func requirementsAreWaitedFor(
        _ requirement: NetworkRequirement, enough: NetworkPath, notEnough: NetworkPath
    ) async throws {
        let fixture = PerformerFixture(notEnough)
        let call = fixture.start(withinSeconds: 1, requiring: requirement)
        try await fixture.clock.waitForSleepers()
        #expect(fixture.runCount == 0)
        fixture.monitor.send(enough)
        #expect(try await call.value.get() == 1)
    }

    @Test func stopEndsWaitersAndFailsLaterCallsFast() async throws {
        let fixture = PerformerFixture(.offline())
        let call = fixture.start(withinSeconds: 1)
        try await fixture.waitForCalls(1)
        fixture.monitor.stop()
        #expect(await call.value.notStartedCode() == .stopped)
        let later = await fixture.performer.perform(withinSeconds: 1000) { fixture.count() }
        #expect(later.notStartedCode() == .stopped)
        #expect(fixture.runCount == 0)
    }

    @Test func aMonitorThatFailsIsToldWithItsError() async throws {
        let fixture = PerformerFixture(nil)
        let call = fixture.start(withinSeconds: 1)
        try await fixture.waitForCalls(1)
        fixture.monitor.fail(NetworkMonitorError(.unavailable, message: "no netlink"))
        guard case .failure(.notStarted(let error)) = await call.value else {
            Issue.record("it ran")
            return
        }
        #expect(error.code == .monitorFailed)
        #expect((error.underlyingError as? NetworkMonitorError)?.code == .unavailable)
    }

    @Test func theMessageOfATimeoutSaysWhatWasMissing() async throws {
        let fixture = PerformerFixture(.offline(.linkDown))
        let looks = Locked(0)
        let looker = fixture.start(
            withinSeconds: 1,
            requiring: .predicate("seen") { _ in
                looks.withLock { $0 += 1 }
                return false
            })
        // One look is the call's own, at the monitor; with the other one the path has come to the performer as well.
        try await eventually { looks.withLock { $0 } >= 2 }
        let call = fixture.start(withinSeconds: 1, requiring: .ipv6)
        try await fixture.waitForCalls(2)
        try await fixture.clock.advance(by: .seconds(1))
        _ = await looker.value
        guard case .failure(.notStarted(let error)) = await call.value else {
            Issue.record("it ran")
            return
        }
        #expect(error.missing == .path)
        #expect(error.message.contains("IPv6") && error.message.contains("the link is down"))
    }
}

/// A monitor that needs a while for its first path, and says so.
private final class SlowMonitor: NetworkMonitor {
    let broadcaster = NetworkPathBroadcaster(keepsPath: true)
    var currentPath: NetworkPath? { broadcaster.currentPath }
    var paths: NetworkPaths { broadcaster.paths }
    var timeToFirstPath: Duration { .seconds(5) }
}
