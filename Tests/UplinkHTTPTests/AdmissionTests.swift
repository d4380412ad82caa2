// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct AdmissionTests {
    private func drain(_ queue: inout TransferQueue) -> [UInt64] {
        var ids: [UInt64] = []
        while let id = queue.next() { ids.append(id) }
        return ids
    }

    // The macro `#expect` does not call mutating methods.
    private func add(_ id: UInt64, to queue: inout TransferQueue) -> Bool { queue.add(id) }
    private func enter(_ id: UInt64, _ host: String, _ gate: inout ResolveGate) -> Bool { gate.enter(id, host: host) }
    private func resolved(_ id: UInt64, _ gate: inout ResolveGate) -> [UInt64] { gate.resolved(id) }
    private func left(_ id: UInt64, _ gate: inout ResolveGate) -> [UInt64] { gate.left(id) }

    @Test func soManyRunAndTheRestWaitsInOrder() {
        var queue = TransferQueue(maximumRunning: 2, maximumWaiting: 10)
        for id in 1...5 { #expect(add(UInt64(id), to: &queue)) }
        #expect(drain(&queue) == [1, 2])
        queue.remove(3)  // it was cancelled while it waited
        queue.remove(1)
        #expect(drain(&queue) == [4])
        queue.remove(2)
        queue.remove(4)
        #expect(drain(&queue) == [5])
    }

    @Test func tooManyWaitingAreRefused() {
        var queue = TransferQueue(maximumRunning: 1, maximumWaiting: 1)
        #expect(add(1, to: &queue))
        #expect(drain(&queue) == [1])
        #expect(add(2, to: &queue))
        #expect(!add(3, to: &queue))
        queue.remove(2)
        #expect(add(4, to: &queue))
    }

    @Test func aHundredThousandPassThroughTheQueue() {
        var queue = TransferQueue(maximumRunning: 3, maximumWaiting: 100_000)
        for id in 1...100_000 { #expect(add(UInt64(id), to: &queue)) }
        var expected: UInt64 = 1
        while let id = queue.next() {
            #expect(id == expected)
            expected += 1
            queue.remove(id)
        }
        #expect(expected == 100_001)
    }

    @Test func oneResolvesAndTheOthersFollow() {
        var gate = ResolveGate(maximumResolving: 8)
        #expect(enter(1, "a", &gate))
        #expect(!enter(2, "a", &gate))
        #expect(!enter(3, "a", &gate))
        #expect(enter(4, "b", &gate))
        #expect(gate.leaders.sorted() == [1, 4])
        #expect(resolved(1, &gate) == [2, 3])
        #expect(left(1, &gate).isEmpty)
        #expect(left(2, &gate).isEmpty)
    }

    @Test func afterAFailureTheNextOneTries() {
        var gate = ResolveGate(maximumResolving: 8)
        #expect(enter(1, "a", &gate))
        #expect(!enter(2, "a", &gate))
        #expect(!enter(3, "a", &gate))
        #expect(left(2, &gate).isEmpty)  // cancelled while it waited
        #expect(left(1, &gate) == [3])
        #expect(gate.leaders == [3])
    }

    @Test func theNumberOfHostsIsBounded() {
        var gate = ResolveGate(maximumResolving: 1)
        #expect(enter(1, "a", &gate))
        #expect(!enter(2, "b", &gate))
        #expect(resolved(1, &gate) == [2])
        #expect(left(2, &gate).isEmpty)
        #expect(gate.leaders.isEmpty)
    }
}
