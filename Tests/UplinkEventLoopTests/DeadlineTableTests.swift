// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkEventLoop

/// A table that expectations can change.
private final class Table {
    private var table = DeadlineTable<String>()
    var count: Int { table.count }
    var capacity: Int { table.capacity }
    func add(_ element: String) -> DeadlineTable<String>.ID { table.add(element) }
    func schedule(_ id: DeadlineTable<String>.ID, at deadline: Int64) -> Bool { table.schedule(id, at: deadline) }
    func remove(_ id: DeadlineTable<String>.ID) -> String? { table.remove(id) }
    func pop(at now: Int64) -> String? { table.popDue(at: now)?.element }
    func alarmToSet() -> Int64? { table.alarmToSet() }
    subscript(id: DeadlineTable<String>.ID) -> String? {
        get { table[id] }
        set { table[id] = newValue }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct DeadlineTableTests {
    private let table = Table()

    @Test func popsInTheOrderOfDeadlinesWhatIsDue() {
        for (name, deadline) in [("c", 30), ("a", 10), ("b", 20)] as [(String, Int64)] {
            _ = table.schedule(table.add(name), at: deadline)
        }
        #expect(table.pop(at: 9) == nil)
        #expect(table.pop(at: 25) == "a")
        #expect(table.pop(at: 25) == "b")
        #expect(table.pop(at: 25) == nil)
        #expect(table.count == 1)
        #expect(table.alarmToSet() == 30)
    }

    @Test func asksForTheTimerOnlyForAnEarlierDeadline() {
        #expect(table.schedule(table.add("a"), at: 20))
        #expect(!table.schedule(table.add("b"), at: 20))
        #expect(!table.schedule(table.add("c"), at: 30))
        #expect(table.schedule(table.add("d"), at: 10))
        #expect(table.pop(at: 10) == "d")
        #expect(table.alarmToSet() == 20)
    }

    @Test func aRemovedFirstDeadlineLeavesTheTimerUntilItGoesOff() {
        let first = table.add("a")
        _ = table.schedule(first, at: 10)
        #expect(table.remove(first) == "a")
        #expect(!table.schedule(table.add("b"), at: 20), "it goes off at 10 anyhow")
        #expect(table.alarmToSet() == 20)
        #expect(table.pop(at: 20) == "b")
        #expect(table.alarmToSet() == nil)
        #expect(table.schedule(table.add("c"), at: 30))
    }

    @Test func anElementWithoutADeadlineStays() {
        let id = table.add("a")
        #expect(table.pop(at: .max) == nil)
        table[id] = "b"
        #expect(table[id] == "b")
        #expect(table.remove(id) == "b")
        #expect(table[id] == nil)
        #expect(table.remove(id) == nil)
    }

    @Test func placesAreUsedAgainAndIdsAreNot() {
        let first = table.add("a")
        _ = table.remove(first)
        let second = table.add("b")
        #expect(second.slot == first.slot)
        #expect(second != first)
        #expect(table[first] == nil)
        #expect(table.remove(first) == nil)
        #expect(table[second] == "b")
    }

    @Test func growsBackToNothingAndForgetsNoId() {
        let ids = (0..<10_000).map { _ in table.add("") }
        for id in ids { _ = table.schedule(id, at: Int64(id.slot % 97)) }
        for id in ids.dropLast(5_000) { #expect(table.remove(id) != nil) }
        while table.pop(at: 100) != nil {}
        #expect(table.count == 0)
        #expect(table.capacity == 0)
        for id in ids { #expect(table[id] == nil) }
        let next = table.add("next")
        #expect(next.slot == 0)
        for id in ids { #expect(table.remove(id) == nil) }
        #expect(table[next] == "next")
    }
}
