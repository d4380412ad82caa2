// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@Suite(.timeLimit(.minutes(1)))
struct DeadlineHeapTests {
    @Test func deadlinesComeOutInOrder() {
        var heap = DeadlineHeap()
        for (slot, deadline) in [50, 10, 40, 20, 30].enumerated() {
            heap.insert(deadline: Int64(deadline), slot: UInt32(slot))
        }
        var order: [Int64] = []
        while let entry = heap.popDue(at: 40) { order.append(entry.deadline) }
        #expect(order == [10, 20, 30, 40])
        #expect(heap.first?.deadline == 50 && heap.first?.slot == 0)
    }

    @Test func aRandomHistoryAgreesWithASortedList() {
        var random = SystemRandomNumberGenerator()
        var heap = DeadlineHeap()
        var model: [UInt32: Int64] = [:]
        for _ in 0..<50_000 {
            let slot = UInt32.random(in: 0..<500, using: &random)
            if model[slot] != nil {
                let wasThere = heap.remove(slot: slot)
                #expect(wasThere)
                model[slot] = nil
            } else if Bool.random(using: &random) {
                let wasThere = heap.remove(slot: slot)
                #expect(!wasThere)
            } else {
                let deadline = Int64.random(in: 0..<1000, using: &random)
                heap.insert(deadline: deadline, slot: slot)
                model[slot] = deadline
            }
            #expect(heap.count == model.count)
            #expect(heap.first?.deadline == model.values.min())
        }
        while let entry = heap.popDue(at: .max) {
            let deadline = model.removeValue(forKey: entry.slot)
            #expect(deadline == entry.deadline)
        }
        #expect(model.isEmpty && heap.isEmpty)
    }
}
