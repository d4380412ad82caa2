// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCore

@Suite(.timeLimit(.minutes(1)))
struct SharedWorkMachineTests {
    private typealias Machine = SharedWorkMachine<String, Int, String, String>

    @Test func theFirstStartsTheWorkAndAllGetItsResult() throws {
        var machine = Machine()
        let (first, isFirst) = machine.join("a")
        let (second, isSecondFirst) = machine.join("a")
        let (other, isOtherFirst) = machine.join("b")
        #expect([isFirst, isSecondFirst, isOtherFirst] == [true, false, true])
        let unwanted = machine.started("task a", for: first)
        #expect(unwanted == nil)
        let isParked = machine.park(first, "one")
        #expect(isParked)
        let woken = machine.finished(first, .success(7))
        #expect(woken == ["one"])
        let isParkedLate = machine.park(second, "two")
        #expect(!isParkedLate)  // the result is here already
        var values: [Int?] = []
        for place in [first, first, second, other] { values.append(try machine.take(place)?.get()) }
        #expect(values == [7, nil, 7, nil])
        let nobody = machine.finished(other, .success(8))
        #expect(nobody.isEmpty)
        let value = try machine.take(other)?.get()
        #expect(value == 8)
        #expect(machine.isEmpty)
    }

    /// With a copy of all seats for each caller, ten times as many would take a hundred times as long.
    @Test func aCallerCostsTheSameHoweverManyThereAre() {
        func time(for count: Int) -> Duration {
            ContinuousClock().measure {
                var machine = Machine()
                let places = (0..<count).map { _ in machine.join("a").place }
                for place in places { _ = machine.park(place, "") }
                _ = machine.finished(places[0], .success(1))
                for place in places { _ = machine.take(place) }
            }
        }
        let ratios = (0..<5).map { _ in time(for: 20_000) / time(for: 2000) }
        #expect((ratios.min() ?? 0) < 40, "\(ratios)")
    }

    @Test func whoComesAfterTheEndBeginsAnew() {
        var machine = Machine()
        let (first, _) = machine.join("a")
        _ = machine.finished(first, .success(1))
        let (_, isFirst) = machine.join("a")
        #expect(isFirst)
        #expect(machine.count == 2)
    }

    @Test func theLastToLeaveEndsTheWork() {
        var machine = Machine()
        let (first, _) = machine.join("a")
        let (second, _) = machine.join("a")
        _ = machine.started("task", for: first)
        _ = machine.park(second, "two")
        let one = machine.leave(first)
        #expect(one.waiter == nil && one.work == nil)
        let two = machine.leave(second)
        #expect(two.waiter == "two" && two.work == "task")
        #expect(machine.isEmpty)
        let woken = machine.finished(first, .success(1))
        #expect(woken.isEmpty)
        let again = machine.leave(second)
        #expect(again.waiter == nil && again.work == nil)
        #expect(machine.isEmpty)
    }

    @Test func workThatNobodyWantsWhenItStartsIsCancelledAtOnce() {
        var machine = Machine()
        let (place, _) = machine.join("a")
        _ = machine.leave(place)
        let unwanted = machine.started("task", for: place)
        #expect(unwanted == "task")
        let (_, isFirst) = machine.join("a")
        #expect(isFirst)
    }

    @Test func workThatIsDoneBeforeItIsKnownIsNotKept() {
        var machine = Machine()
        let (place, _) = machine.join("a")
        _ = machine.finished(place, .success(1))
        let unwanted = machine.started("task", for: place)
        #expect(unwanted == nil)
        let left = machine.leave(place)
        #expect(left.work == nil)
        #expect(machine.isEmpty)
    }

    @Test func whatIsEndedFromOutsideGivesItsErrorAndIsCancelled() {
        struct Ended: Error {}
        var machine = Machine()
        let (first, _) = machine.join("a")
        let (late, _) = machine.join("a")
        let (other, _) = machine.join("b")
        let (unstarted, _) = machine.join("c")
        _ = machine.started("task a", for: first)
        _ = machine.started("task b", for: other)
        _ = machine.park(first, "one")
        let ended = machine.end { $0 == "b" ? nil : Ended() }
        #expect(ended.waiters == ["one"] && ended.work == ["task a"])
        let isParked = machine.park(late, "two")
        #expect(!isParked)
        let unwanted = machine.started("task c", for: unstarted)
        #expect(unwanted == "task c")
        let woken = machine.finished(first, .success(1))  // it did not heed its cancellation
        #expect(woken.isEmpty)
        for place in [first, late, unstarted] {
            let result = machine.take(place)
            #expect(throws: Ended.self) { try result?.get() }
        }
        let (_, isFirst) = machine.join("a")
        #expect(isFirst)
        let again = machine.end { $0 == "b" ? Ended() : nil }
        #expect(again.work == ["task b"])
    }
}
