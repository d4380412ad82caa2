// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import struct UplinkCore.PerformerMachine

@Suite(.timeLimit(.minutes(1)))
struct PerformerStabilityTests {
    private static let twoSeconds = NetworkRequirement.stable(for: .seconds(2))

    /// Waits until one timer is armed that is due after so many seconds.
    private func waitForAlarm(on clock: ManualClock, after seconds: String) async throws {
        try await eventually("\(clock.sleepers) instead of \(seconds)") {
            let sleepers = clock.sleepers  // once: they may be others the next moment
            return sleepers.count == 1 && sleepers[0].contains(" \(seconds)")
        }
    }

    @Test(arguments: [false, true])
    func theOperationStartsWhenTheNetworkHasBeenThereForLongEnough(comesLater: Bool) async throws {
        let fixture = PerformerFixture(comesLater ? .offline() : .online())
        let call = fixture.start(withinSeconds: 10, requiring: Self.twoSeconds)
        if comesLater {
            try await waitForAlarm(on: fixture.clock, after: "10.0")
            fixture.monitor.goOnline()
        }
        try await waitForAlarm(on: fixture.clock, after: "2.0")
        try await fixture.clock.advance(by: .seconds(2) - .nanoseconds(1))
        #expect(fixture.performer.census.waiting == 1)
        try await fixture.clock.advance(by: .nanoseconds(1))
        #expect(try await call.value.get() == 1)
        #expect(fixture.clock.now.offset == .seconds(2))
        try await fixture.expectNothingIsLeft()
    }

    @Test(arguments: [(NetworkPath.online(), NetworkOperationError.Missing.stability), (.offline(), .path)])
    func theDeadlineHoldsAndSaysWhatWasMissing(
        _ path: NetworkPath, _ missing: NetworkOperationError.Missing
    ) async throws {
        let fixture = PerformerFixture(path)
        let call = fixture.start(withinSeconds: 3, requiring: .ipv4.and(.stable(for: .seconds(5))))
        try await fixture.clock.advance(by: .seconds(3))
        guard case .failure(.notStarted(let error)) = await call.value else {
            Issue.record("it ran")
            return
        }
        #expect(error.code == .timedOut)
        #expect(error.missing == missing)
        #expect(error.message.contains("IPv4, stable for 5.0 seconds"))
        #expect(fixture.runCount == 0)
        try await fixture.expectNothingIsLeft()
    }

    @Test func withTimeoutZeroThereIsNoTimeToBeStableIn() async throws {
        let fixture = PerformerFixture(.online())
        #expect(await fixture.start(withinSeconds: 0, requiring: Self.twoSeconds).value.notStartedCode() == .timedOut)
        #expect(try await fixture.start(withinSeconds: 0, requiring: .stable(for: .zero)).value.get() == 1)
        #expect(try await fixture.start(withinSeconds: 0, requiring: .stable(for: .seconds(-1))).value.get() == 2)
        try await fixture.expectNothingIsLeft()
    }

    @Test func aPathThatWasNotKnownForAWhileIsStableAnew() async throws {
        let fixture = PerformerFixture(.online())
        let call = fixture.start(withinSeconds: 10, requiring: Self.twoSeconds)
        try await fixture.clock.advance(by: .seconds(1))
        fixture.monitor.forget()
        fixture.monitor.goOnline()
        try await fixture.clock.advance(by: .seconds(1))
        // Stable from when the call hears of the path: that may be at its last look, a second later.
        try await eventually("\(fixture.clock.sleepers)") {
            let sleepers = fixture.clock.sleepers
            return sleepers.count == 1 && (sleepers[0].contains(" 1.0") || sleepers[0].contains(" 2.0"))
        }
        #expect(fixture.runCount == 0)
        try await fixture.clock.advance(by: .seconds(2))
        #expect(try await call.value.get() == 1)
        try await fixture.expectNothingIsLeft()
    }

    /// The monitor saw a loss that was over before its time to be told, and gives the path another number.
    @Test func aLossThatWasTooShortToBeToldIsABreak() async throws {
        let (monitor, clock) = (BroadcastingMonitor(), ManualClock())
        let performer = NetworkOperationPerformer(monitor: monitor, clock: clock)
        monitor.broadcaster.send(.online())
        let call = Task { await performer.perform(withinSeconds: 10, requiring: Self.twoSeconds) { 1 } }
        try await waitForAlarm(on: clock, after: "2.0")
        try await clock.advance(by: .milliseconds(1900))
        monitor.broadcaster.renumber(to: 2)
        try await clock.advance(by: .milliseconds(100))
        try await waitForAlarm(on: clock, after: "2.0")  // stable from this look on
        try await clock.advance(by: .seconds(2) - .nanoseconds(1))
        #expect(performer.census.waiting == 1)
        try await clock.advance(by: .nanoseconds(1))
        #expect(try await call.value.get() == 1)
        #expect(clock.now.offset == .seconds(4))
    }

    @Test func aWaitForStabilityCanBeCancelled() async throws {
        let fixture = PerformerFixture(.online())
        let call = fixture.start(withinSeconds: 10, requiring: Self.twoSeconds)
        try await fixture.waitForCalls(1)
        call.cancel()
        #expect(await call.value.notStartedCode() == .cancelled)
        try await fixture.expectNothingIsLeft()
    }

    @Test func requirementsJoinTheirStabilities() {
        let both = NetworkRequirement.stable(for: .seconds(1)).and(.localNetwork).and(.stable(for: .seconds(3)))
        #expect(both.stableTime == .seconds(3))
        #expect(both.description == "local network, stable for 3.0 seconds")
        var path = NetworkPath.offline()
        path.scope = .site
        #expect(both.isSatisfied(by: path))
        #expect(!NetworkRequirement.stable(for: .seconds(1)).isSatisfied(by: path))
        #expect(NetworkRequirement.stable(for: .seconds(1)).description == "internet, stable for 1.0 seconds")
    }
}

/// A monitor that gives what its broadcaster is told.
private final class BroadcastingMonitor: NetworkMonitor {
    let broadcaster = NetworkPathBroadcaster(keepsPath: true)
    var currentPath: NetworkPath? { broadcaster.currentPath }
    var paths: NetworkPaths { broadcaster.paths }
}

/// The state machine alone.
@Suite(.timeLimit(.minutes(1)))
struct PerformerMachineStabilityTests {
    private var machine = PerformerMachine()
    private var generation: UInt64 = 0

    private mutating func enter(deadline: Int64) -> PerformerMachine.ID {
        machine.enter(
            requirement: .stable(for: .nanoseconds(2)), deadline: deadline, graceEnd: 0, isSupervised: false)
    }

    private mutating func tell(_ id: PerformerMachine.ID, _ path: NetworkPath, now: Int64, skipping skipped: UInt64 = 0)
    {
        generation += 1 + skipped
        var path = path
        path.generation = generation
        _ = machine.answered([(id, PerformerMachine.Look(path, .internet))], now: now)
    }

    /// Whether the operation may start at a time, asked with the newest path.
    private mutating func starts(_ id: PerformerMachine.ID, now: Int64, newer: UInt64 = 0) -> String {
        generation += newer
        var path = NetworkPath.online()
        path.generation = generation
        let look = PerformerMachine.Look(path, .internet)
        switch machine.begin(id, look: look, isCancelled: false, now: now, graceEnd: 0).0 {
        case .started: return "started"
        case .wait, .lookAgain: return "waits"
        case .superseded: return "looks again"
        case .notStarted(let error): return error.missing?.description ?? error.code.description
        }
    }

    @Test mutating func flapsThatAreTooShortDoNotStartTheOperation() {
        let id = enter(deadline: 100)
        for start in Int64(0)..<5 {
            tell(id, .online(), now: 2 * start)
            #expect(starts(id, now: 2 * start + 1) == "waits")
            tell(id, .offline(), now: 2 * start + 1)
        }
        tell(id, .online(), now: 10)
        #expect(starts(id, now: 11) == "waits")
        #expect(starts(id, now: 12) == "started")
    }

    /// A call looks with no lock held, so that what it saw may be older than what it was told.
    @Test mutating func whatWasSeenBeforeDoesNotUndoWhatWasTold() {
        let id = enter(deadline: 100)
        var before = NetworkPath.offline()
        tell(id, .online(), now: 1)
        before.generation = generation - 1
        _ = machine.answered([(id, PerformerMachine.Look(before, .internet))], now: 2)
        #expect(starts(id, now: 3) == "started")

        let late = enter(deadline: 100)
        before = .online()
        tell(late, .online(), now: 10)
        before.generation = generation
        tell(late, .offline(), now: 12)
        let look = PerformerMachine.Look(before, .internet)
        let start = machine.begin(late, look: look, isCancelled: false, now: 13, graceEnd: 0).0
        guard case .wait = start else {
            Issue.record("it started on a path that was gone: \(start)")
            return
        }
    }

    /// What is told meanwhile is told to those who wait and to those who run, and the call is on its way between the
    /// two.
    @Test mutating func whatWasToldSinceTheLastLookIsLookedAt() throws {
        let online = PerformerMachine.Look(.online(), .internet)
        let ids = (0..<2).map { _ in
            machine.enter(
                requirement: .internet, deadline: 100, graceEnd: 0, isSupervised: false, watchesLoss: true)
        }
        _ = machine.answered(ids.map { ($0, online) }, now: 0)
        let actions = machine.begin(ids[0], look: online, isCancelled: false, now: 0, graceEnd: 0).1
        var path = NetworkPath.offline()
        path.generation = 1
        _ = machine.pathArrived(path, subscription: try #require(actions.subscribe))
        let start = machine.begin(ids[1], look: online, isCancelled: false, now: 1, graceEnd: 0).0
        guard case .superseded = start else {
            Issue.record("\(start)")
            return
        }
        let look = PerformerMachine.Look(path, .internet)
        guard case .lookAgain = machine.begin(ids[1], look: look, isCancelled: false, now: 1, graceEnd: 0).0 else {
            Issue.record("it does not wait")
            return
        }
    }

    /// As when every thread was busy: the call was there when the path was not, and its limit was over when it came.
    @Test mutating func aPathThatCameTooLateIsNoneToACallThatIsLateToo() {
        let id = machine.enter(requirement: .internet, deadline: 2, graceEnd: 0, isSupervised: false)
        tell(id, .offline(), now: 0)
        #expect(starts(id, now: 3, newer: 1) == "path")
    }

    @Test mutating func aChangeThatIsStillEnoughIsNoBreak() {
        let id = enter(deadline: 100)
        tell(id, .online(), now: 0)
        tell(id, .online(ipv6: true), now: 1)
        #expect(starts(id, now: 2) == "started")
    }

    @Test mutating func aGapInTheGenerationsIsABreak() {
        let id = enter(deadline: 100)
        tell(id, .online(), now: 0)
        tell(id, .online(), now: 1, skipping: 1)
        #expect(starts(id, now: 2) == "waits")
        #expect(starts(id, now: 3, newer: 2) == "waits")
        #expect(starts(id, now: 5) == "started")
    }

    @Test mutating func exactlyAtTheDeadlineItWasStableInTime() {
        let (inTime, late) = (enter(deadline: 2), enter(deadline: 1))
        tell(inTime, .online(), now: 0)
        generation = 0
        tell(late, .online(), now: 0)
        #expect(starts(inTime, now: 2) == "started")
        #expect(starts(late, now: 1) == "stability")
        #expect(machine.census.waiting == 0)
        #expect(machine.census.deadlines == 0)
    }

    @Test mutating func oneAlarmServesDeadlinesAndStability() throws {
        let id = enter(deadline: 100)
        generation += 1
        var path = NetworkPath.online()
        path.generation = generation
        let actions = machine.answered([(id, PerformerMachine.Look(path, .internet))], now: 7)
        let alarm = try #require(actions.arm)
        #expect(alarm.deadline == 9)
        #expect(machine.census.deadlines == 1)
        _ = machine.alarmWentOff(alarm.number, now: 9)
        // It was granted there: a late start is honoured.
        #expect(starts(id, now: 200) == "started")
    }
}
