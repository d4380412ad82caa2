// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import Uplink
import UplinkTesting

/// Performs of every form and outcome from many tasks, while the network flaps and callers are cancelled. Real time,
/// because the races are between real threads; the loop's clock, because its heap is to be raced too.
@Suite(.timeLimit(.minutes(60)), .undisturbed, .serialized)
struct PerformerStorm {
    @Test(arguments: [nil, 8])
    func everyCallHasOneOutcomeAndNothingIsLeft(maximumRunning: Int?) async throws {
        let (callers, rounds) = (64, 150 * Workload.factor)
        print("PerformerStorm: \(callers) × \(rounds) calls, seed \(Workload.seed)")
        let tally = Locked(StormTally(maximumRunning: maximumRunning))
        try await withEventLoop { loop in
            let monitor = StubNetworkMonitor(.offline())
            let performer = NetworkOperationPerformer(
                monitor: monitor, clock: LoopClock(on: loop), maximumRunning: maximumRunning)
            let isOver = Locked(false)
            async let flapping: Void = {
                var random = SeededGenerator(seed: Workload.seed)
                while !isOver.withLock({ $0 }) {
                    monitor.goOnline()
                    for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
                    monitor.goOffline()
                    try? await Task.sleep(for: .microseconds(Int.random(in: 0..<400, using: &random)))
                }
            }()
            await withDiscardingTaskGroup { group in
                for caller in 0..<callers {
                    group.addTask {
                        var random = SeededGenerator(seed: Workload.seed &+ UInt64(caller) &* 7919)
                        for _ in 0..<rounds {
                            await StormCall(performer, loop, tally, &random).run(&random)
                        }
                    }
                }
            }
            isOver.withLock { $0 = true }
            await flapping
            #expect(performer.census == PerformerCensus())
            #expect(!monitor.isObserved)
        }
        let result = tally.withLock { $0 }
        #expect(result.broken.prefix(10).isEmpty)
        #expect(result.running == 0)
        #expect(result.outcomes.values.reduce(0, +) == callers * rounds)
        for outcome in ["value", "timedOut", "cancelled", "deadlineExceeded", "networkLost"] {
            #expect(result.outcomes[outcome, default: 0] > 0, "no overlap: \(result.outcomes)")
        }
        #expect(result.repeated > 0, "nothing was run again")
        print("PerformerStorm: \(result.outcomes), \(result.repeated) of them ran again")
    }
}
