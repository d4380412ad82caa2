// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@Suite(.timeLimit(.minutes(1)))
struct ArrivalTableTests {
    @Test func elementsStandInOrderOfArrival() {
        var table = ArrivalTable<String>()
        let ids = ["a", "b", "c", "d"].map { table.append($0) }
        table.remove(ids[1])
        let late = table.append("e")  // in the place that b left
        #expect(table.ids.map { table[$0] } == ["a", "c", "d", "e"])
        #expect(table[late] == "e")
    }

    @Test func anIdOfOneWhoLeftFindsNobody() {
        var table = ArrivalTable<String>()
        let gone = table.append("a")
        table.remove(gone)
        _ = table.append("b")
        #expect(table[gone] == nil)
        let removed = table.remove(gone)
        #expect(removed == nil)
        #expect(table.count == 1)
    }

    @Test func aRandomHistoryAgreesWithAnArray() {
        var table = ArrivalTable<Int>()
        var model: [(ArrivalTable<Int>.ID, Int)] = []
        for step in 0..<20_000 {
            if model.count > 100 || (!model.isEmpty && step % 3 == 0) {
                let (id, value) = model.remove(at: Int.random(in: model.indices))
                let removed = table.remove(id)
                #expect(removed == value)
            } else {
                model.append((table.append(step), step))
            }
            #expect(table.count == model.count)
        }
        #expect(table.ids.map { table[$0] } == model.map { $0.1 })
    }
}
