// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct AdmissionTests {
    private func drain(_ queue: inout HostQueues) -> [UInt64] {
        var ids: [UInt64] = []
        while let id = queue.next() { ids.append(id) }
        return ids
    }

    // The macro `#expect` does not call mutating methods.
    private func add(_ id: UInt64, to queue: inout HostQueues, _ host: String = "a") -> Bool {
        queue.add(id, host: host)
    }
    private func enter(_ id: UInt64, _ host: String, _ gate: inout ResolveGate) -> Bool { gate.enter(id, lookup: host) }
    private func resolved(_ id: UInt64, _ gate: inout ResolveGate) -> [UInt64] { gate.resolved(id) }
    private func left(_ id: UInt64, _ gate: inout ResolveGate) -> [UInt64] { gate.left(id) }

    @Test func soManyRunAndTheRestWaitsInOrder() {
        var queue = HostQueues(maximumRunning: 2, maximumRunningPerHost: 2, maximumWaiting: 10)
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
        var queue = HostQueues(maximumRunning: 1, maximumRunningPerHost: 1, maximumWaiting: 1)
        #expect(add(1, to: &queue))
        #expect(drain(&queue) == [1])
        #expect(add(2, to: &queue))
        #expect(!add(3, to: &queue))
        queue.remove(2)
        #expect(add(4, to: &queue))
    }

    @Test func whoRunsAtOnceIsNotRefusedThoughOthersWait() {
        var queue = HostQueues(maximumRunning: 4, maximumRunningPerHost: 2, maximumWaiting: 2)
        for id in 1...4 { #expect(add(UInt64(id), to: &queue, "a")) }
        #expect(!add(5, to: &queue, "a"))
        #expect(add(6, to: &queue, "b"))
        #expect(add(7, to: &queue, "b"))
        #expect(!add(8, to: &queue, "c"))  // all four are spoken for, and two wait
        #expect(drain(&queue) == [1, 6, 2, 7])
        queue.remove(3)
        queue.remove(6)
        #expect(add(9, to: &queue, "c"))
        #expect(drain(&queue) == [9])
    }

    @Test func aHostHasItsOwnLimitAndHoldsNobodyUp() {
        var queue = HostQueues(maximumRunning: 4, maximumRunningPerHost: 2, maximumWaiting: 10)
        for id in 1...4 { #expect(add(UInt64(id), to: &queue, "a")) }
        #expect(add(5, to: &queue, "b"))
        #expect(drain(&queue) == [1, 5, 2])
        queue.remove(5)
        #expect(drain(&queue).isEmpty)
        queue.remove(1)
        #expect(drain(&queue) == [3])
        queue.remove(2)
        #expect(drain(&queue) == [4])
    }

    @Test func hostsTakeTurns() {
        var queue = HostQueues(maximumRunning: 2, maximumRunningPerHost: 2, maximumWaiting: 1000)
        var order: [UInt64] = []
        for id in 0..<100 { #expect(add(UInt64(id), to: &queue, "host \(id / 10)")) }
        var running = drain(&queue)
        while let id = running.popLast() {
            order.append(id)
            queue.remove(id)
            running += drain(&queue)
        }
        #expect(Set(order) == Set(0..<100))
        // After each ten of the hundred no host is ahead of another by more than two.
        for end in stride(from: 10, through: 100, by: 10) {
            let counts = (0..<10).map { host in order[..<end].count { $0 / 10 == host } }
            #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 2, "\(counts)")
        }
    }

    @Test func aHundredThousandPassThroughTheQueue() {
        var queue = HostQueues(maximumRunning: 3, maximumRunningPerHost: 3, maximumWaiting: 100_000)
        for id in 1...100_000 { #expect(add(UInt64(id), to: &queue)) }
        var expected: UInt64 = 1
        while let id = queue.next() {
            #expect(id == expected)
            expected += 1
            queue.remove(id)
        }
        #expect(expected == 100_001)
    }

    @Test func whatWasRemovedWhileItWaitedIsForgotten() {
        var queue = HostQueues(maximumRunning: 1, maximumRunningPerHost: 1, maximumWaiting: 10)
        for round in 0..<10_000 {
            let id = UInt64(round * 2)
            #expect(add(id, to: &queue, "a"))
            #expect(add(id + 1, to: &queue, "b"))
            queue.remove(id + 1)
            #expect(drain(&queue) == [id])
            queue.remove(id)
        }
        #expect(drain(&queue).isEmpty)
    }

    @Test func hostsWithoutTransfersAreForgotten() {
        var queue = HostQueues(maximumRunning: 2, maximumRunningPerHost: 1, maximumWaiting: 10)
        for id in 0..<1000 as Range<UInt64> {
            #expect(add(id, to: &queue, "host \(id / 2)"))
            #expect(drain(&queue) == [id])
            queue.remove(id)
            #expect(queue.knownHosts == 1)  // the last one, which may be the next one
        }
    }

    @Test func whoGivesUpBehindAFullHostIsForgotten() {
        var queue = HostQueues(maximumRunning: 10, maximumRunningPerHost: 1, maximumWaiting: 10)
        #expect(add(1, to: &queue))
        #expect(drain(&queue) == [1])
        #expect(add(2, to: &queue))
        for id in 3..<10_000 {
            #expect(add(UInt64(id), to: &queue))
            queue.remove(UInt64(id))
            #expect(drain(&queue).isEmpty)
        }
        #expect(queue.remembered < 200)
        #expect(add(10_000, to: &queue))
        queue.remove(1)
        #expect(drain(&queue) == [2])
        queue.remove(2)
        #expect(drain(&queue) == [10_000])
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
