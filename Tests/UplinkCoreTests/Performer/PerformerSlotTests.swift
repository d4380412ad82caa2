// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import class UplinkCore.HeldSlot
@testable import struct UplinkCore.PerformerMachine

@Suite(.timeLimit(.minutes(1)))
struct PerformerSlotTests {
    private struct Own: Error {}

    /// Holds a slot until the gate opens.
    private func occupy(_ fixture: PerformerFixture, until gate: Gate) async throws -> Task<Void, any Error> {
        let running = fixture.performer.census.running
        let task = Task { try await fixture.performer.perform(within: .seconds(1)) { await gate.wait() } }
        try await eventually { fixture.performer.census.running == running + 1 }
        return task
    }

    @Test(arguments: [1, 3])
    func neverMoreThanTheLimitRunAtOnce(limit: Int) async throws {
        let fixture = PerformerFixture(.offline(), maximumRunning: limit)
        let running = Locked((now: 0, most: 0))
        let isFull = Gate()
        let calls = (0..<100).map { index in
            Task {
                try await fixture.performer.perform(within: .seconds(10)) {
                    let now = running.withLock {
                        $0 = ($0.now + 1, max($0.most, $0.now + 1))
                        return $0.now
                    }
                    if now == limit { isFull.open() }
                    await isFull.wait()
                    for _ in 0..<10 { await Task.yield() }
                    running.withLock { $0.now -= 1 }
                    if index.isMultiple(of: 3) { throw Own() }
                }
            }
        }
        try await fixture.waitForCalls(100)
        for call in calls.prefix(10) { call.cancel() }
        fixture.monitor.goOnline()
        for call in calls { _ = await call.result }
        #expect(running.withLock { $0.most } == limit)
        try await fixture.expectNothingIsLeft()
    }

    /// All at the same moment: it is measured from when the network came.
    @Test func afterAStableTimeSlotsGoToThoseWhoCameFirst() async throws {
        let fixture = PerformerFixture(.offline(), maximumRunning: 2)
        let (gate, order) = (Gate(), Locked<[Int]>([]))
        let calls = try await (0..<6).asyncMap { index in
            let call = Task {
                try await fixture.performer.perform(within: .seconds(60), requiring: .stable(for: .seconds(2))) {
                    order.withLock { $0.append(index) }
                    await gate.wait()
                }
            }
            try await fixture.waitForCalls(index + 1)
            return call
        }
        fixture.monitor.goOnline()
        try await eventually { fixture.clock.sleepers.contains { $0.contains(" 2.0") } }
        try await fixture.clock.advance(by: .seconds(2))
        try await eventually { order.withLock { $0.count } == 2 }
        #expect(order.withLock { $0.sorted() } == [0, 1])
        gate.open()
        for call in calls { try await call.value }
        try await fixture.expectNothingIsLeft()
    }

    @Test func slotsGoToThoseWhoCameFirst() async throws {
        let fixture = PerformerFixture(.online(), maximumRunning: 1)
        let (gate, order) = (Gate(), Locked<[Int]>([]))
        _ = try await occupy(fixture, until: gate)
        let calls = try await (0..<10).asyncMap { index in
            let call = Task {
                try await fixture.performer.perform(within: .seconds(10)) { order.withLock { $0.append(index) } }
            }
            try await eventually { fixture.performer.census.inLine == index + 1 }
            return call
        }
        gate.open()
        for call in calls { try await call.value }
        #expect(order.withLock { $0 } == Array(0..<10))
        try await fixture.expectNothingIsLeft()
    }

    @Test func aNestedCallUsesItsParentsSlot() async throws {
        let fixture = PerformerFixture(.online(), maximumRunning: 1)
        let performer = fixture.performer
        let value = try await performer.perform(within: .seconds(1)) {
            async let sibling = performer.perform(completingWithin: .seconds(1)) {
                try await performer.perform(within: .zero) { fixture.count() }
            }
            return try await performer.perform(withinSeconds: 0) { fixture.count() }.get() + sibling
        }
        #expect(value == 3)
        let supervised = try await performer.perform(completingWithin: .seconds(1)) {
            try await performer.perform(within: .zero) { fixture.count() }
        }
        #expect(supervised == 3)
        try await fixture.expectNothingIsLeft()
    }

    @Test func anotherPerformersOperationIsNoParent() async throws {
        let (one, other) = (
            PerformerFixture(.online(), maximumRunning: 1), PerformerFixture(.online(), maximumRunning: 1)
        )
        let gate = Gate()
        _ = try await occupy(other, until: gate)
        let missing = try await one.performer.perform(within: .zero) {
            await other.performer.perform(withinSeconds: 0) {}.missing()
        }
        #expect(missing == .slot)
        gate.open()
    }

    @Test func aCallThatOutlivesItsParentNeedsASlotOfItsOwn() async throws {
        let fixture = PerformerFixture(.online(), maximumRunning: 1)
        let (mayCall, gate) = (Gate(), Gate())
        let late = try await fixture.performer.perform(within: .zero) {
            Task {
                await mayCall.wait()
                return await fixture.performer.perform(withinSeconds: 0) {}.missing()
            }
        }
        let holder = try await occupy(fixture, until: gate)
        mayCall.open()
        #expect(await late.value == .slot)
        gate.open()
        try await holder.value
    }

    /// Each operation begins the next one in a task of its own, and ends.
    @Test func operationsThatFollowEachOtherKeepNoSlotsOfThoseBefore() async throws {
        let performer = PerformerFixture(.online(), maximumRunning: 1).performer
        let (isThird, depth) = (Gate(), Locked(0))
        @Sendable func begin(_ number: Int) async throws {
            try await performer.perform(within: .zero) {
                depth.withLock { $0 = HeldSlot.depth }
                if number < 3 { Task { try await begin(number + 1) } } else { isThird.open() }
            }
        }
        try await begin(1)
        await isThird.wait()
        #expect(depth.withLock { $0 } == 1)
    }

    @Test func whoIsStartedWithThePathGetsBehindThoseWhoWait() async throws {
        for _ in 0..<50 {
            let fixture = PerformerFixture(.offline(), maximumRunning: 1)
            let first = fixture.start(withinSeconds: 1)
            try await fixture.waitForCalls(1)
            fixture.monitor.goOnline()
            let second = fixture.performer.start(within: .zero) { fixture.count() }
            #expect(try await first.value.get() == 1)
            let outcome = await second.outcome
            if case .success(let number) = outcome { #expect(number == 2) } else { #expect(outcome.missing() == .slot) }
            try await fixture.expectNothingIsLeft()
        }
    }

    @Test func whoComesWithThePathGetsBehindThoseWhoWait() async throws {
        for _ in 0..<50 {
            let fixture = PerformerFixture(.offline(), maximumRunning: 1)
            let first = fixture.start(withinSeconds: 1)
            try await fixture.waitForCalls(1)
            fixture.monitor.goOnline()
            let second = await fixture.performer.perform(withinSeconds: 0) { fixture.count() }
            #expect(try await first.value.get() == 1)
            // Without time to wait it may not get its turn at all.
            if case .success(let number) = second { #expect(number == 2) }
            try await fixture.expectNothingIsLeft()
        }
    }

    @Test func outOfTimeForWantOfASlotIsSaid() async throws {
        let fixture = PerformerFixture(.online(), maximumRunning: 1)
        let gate = Gate()
        let holder = try await occupy(fixture, until: gate)
        #expect(await fixture.start(withinSeconds: 0).value.missing() == .slot)
        let call = fixture.start(withinSeconds: 2)
        try await fixture.clock.advance(by: .seconds(2))
        let result = await call.value
        #expect(result.notStartedCode() == .timedOut)
        #expect(result.missing() == .slot)
        #expect(fixture.runCount == 0)
        gate.open()
        try await holder.value
        try await fixture.expectNothingIsLeft()
    }

    @Test func lossWhileWaitingForASlotIsWaitingForThePath() async throws {
        let fixture = PerformerFixture(.online(), maximumRunning: 1)
        let gate = Gate()
        let holder = try await occupy(fixture, until: gate)
        let call = fixture.start(withinSeconds: 2)
        try await fixture.waitForCalls(1)
        fixture.monitor.goOffline()
        gate.open()
        try await holder.value
        // Granted the slot or not, it looks at the newest path before it starts.
        try await fixture.clock.advance(by: .seconds(2))
        #expect(await call.value.missing() == .path)
        #expect(fixture.runCount == 0)
        try await fixture.expectNothingIsLeft()
    }

    @Test(arguments: ["value", "throws", "cancelled", "deadline"])
    func aSlotIsFreeAfterEveryOutcome(_ outcome: String) async throws {
        let fixture = PerformerFixture(.online(), maximumRunning: 1)
        let call = Task {
            try await fixture.performer.perform(completingWithin: .seconds(1)) {
                switch outcome {
                case "value": break
                case "throws": throw Own()
                default:
                    while !Task.isCancelled { await Task.yield() }
                    try Task.checkCancellation()
                }
            }
        }
        if outcome == "deadline" { try await fixture.clock.advance(by: .seconds(1)) }
        if outcome == "cancelled" {
            try await eventually { fixture.performer.census.running == 1 }
            call.cancel()
        }
        _ = await call.result
        let thrown = await fixture.performer.perform(withinSeconds: 0) { () throws(Own) in throw Own() }
        guard case .failure(.operation) = thrown else {
            Issue.record("\(thrown)")
            return
        }
        #expect(try await fixture.start(withinSeconds: 0).value.get() == 1)
        try await fixture.expectNothingIsLeft()
    }

    @Test func cancelledInTheLineItLeavesItsPlaceToTheNext() async throws {
        let fixture = PerformerFixture(.online(), maximumRunning: 1)
        let gate = Gate()
        let holder = try await occupy(fixture, until: gate)
        let first = fixture.start(withinSeconds: 2)
        try await fixture.waitForCalls(1)
        let second = fixture.start(withinSeconds: 2)
        try await fixture.waitForCalls(2)
        first.cancel()
        #expect(await first.value.notStartedCode() == .cancelled)
        gate.open()
        #expect(try await second.value.get() == 1)
        try await holder.value
        try await fixture.expectNothingIsLeft()
    }

    @Test(arguments: ["cancelled", "lost"])
    func aGrantThatIsNotUsedGoesToTheNext(_ end: String) throws {
        var machine = PerformerMachine(maximumRunning: 1)
        let online = PerformerMachine.Look(.online(), .internet)
        let ids = (0..<2).map { _ in
            machine.enter(requirement: .internet, deadline: .max, graceEnd: 0, isSupervised: false)
        }
        _ = machine.answered(ids.map { ($0, online) }, now: 0)
        #expect(machine.census.inLine == 1)
        let look = end == "lost" ? PerformerMachine.Look(.offline(), .internet) : online
        _ = machine.begin(ids[0], look: look, isCancelled: end == "cancelled", now: 0, graceEnd: 0)
        #expect(machine.census.inLine == 0)
        guard case .started = machine.begin(ids[1], look: online, isCancelled: false, now: 0, graceEnd: 0).0 else {
            Issue.record("the slot is not free")
            return
        }
    }

    /// The alarm may be late, as when every thread was busy with what held the slot.
    @Test(arguments: [(Int64(2), "first"), (3, "second")])
    func aSlotGoesToNobodyWhoseTimeIsOver(time: Int64, next: String) throws {
        var machine = PerformerMachine(maximumRunning: 1)
        let online = PerformerMachine.Look(.online(), .internet)
        let ids = [Int64.max, 2, .max].map { deadline in
            machine.enter(requirement: .internet, deadline: deadline, graceEnd: 0, isSupervised: false)
        }
        _ = machine.answered(ids.map { ($0, online) }, now: 0)
        _ = machine.begin(ids[0], look: online, isCancelled: false, now: 0, graceEnd: 0)
        _ = machine.finish(ids[0], now: time)
        let first = machine.begin(ids[1], look: online, isCancelled: false, now: time, graceEnd: 0).0
        switch first {
        case .started: #expect(next == "first")
        case .notStarted(let error): #expect((next, error.missing) == ("second", .slot))
        case .wait, .lookAgain, .superseded: Issue.record("\(first)")
        }
        #expect(machine.census.inLine == (next == "first" ? 1 : 0))
    }

    @Test(arguments: [0, -1, Int.min])
    func aLimitBelowOneIsAnErrorOfEveryCall(limit: Int) async throws {
        let fixture = PerformerFixture(.online(), maximumRunning: limit)
        #expect(await fixture.start(withinSeconds: 1).value.notStartedCode() == .invalidArgument)
        let error = await #expect(throws: NetworkOperationError.self) {
            try await fixture.performer.perform(completingWithin: .seconds(1)) { fixture.count() }
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("maximumRunning") == true)
        #expect(fixture.runCount == 0)
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
