// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import Uplink

/// Loops made and ended while tasks still sleep, hop and work on them.
@Suite(.timeLimit(.minutes(30)), .undisturbed, .serialized)
struct LoopStorm {
    @Test func loopsEndUnderLoadAndNothingIsLeft() async throws {
        try await withEventLoop { try await $0.offLoop {} }  // starts libuv's thread pool, which stays
        let before = Census()
        let ended = Locked((woken: 0, refused: 0, cancelled: 0))
        let rounds = 30 * Workload.factor
        for round in 0..<rounds {
            var sleepers: [Task<Void, Never>] = []
            try await withEventLoop { loop in
                let clock = LoopClock(on: loop)
                sleepers = (0..<100).map { index in
                    Task(executorPreference: index % 2 == 0 ? loop : nil) {
                        do {
                            try await clock.sleep(for: index % 5 == 0 ? .seconds(3600) : .microseconds(index * 40))
                            ended.withLock { $0.woken += 1 }
                        } catch is EventLoopError {
                            ended.withLock { $0.refused += 1 }
                        } catch {
                            ended.withLock { $0.cancelled += 1 }
                        }
                    }
                }
                for sleeper in sleepers where round % 3 == 0 { sleeper.cancel() }
                async let work: Void = loop.offLoop {}
                try await clock.sleep(for: .milliseconds(round % 4))
                try await work
            }
            for sleeper in sleepers { await sleeper.value }
        }
        let outcomes = ended.withLock { $0 }
        #expect(outcomes.woken + outcomes.refused + outcomes.cancelled == 100 * rounds)
        #expect(outcomes.woken > 0 && outcomes.refused > 0 && outcomes.cancelled > 0, "no overlap: \(outcomes)")
        // Tests beside this one have descriptors of their own for a while.
        try await eventually("descriptors back to \(before.descriptors)") {
            Census().descriptors <= before.descriptors
        }
    }
}
