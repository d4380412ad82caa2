// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import Uplink
import UplinkTesting

/// Performs of every outcome from many tasks, while the network flaps and callers are cancelled. Real time, because the
/// races are between real threads; the loop's clock, because its heap is to be raced too.
@Suite(.timeLimit(.minutes(30)), .undisturbed, .serialized)
struct PerformerStorm {
    /// What became of the calls.
    private struct Tally: Sendable {
        var outcomes: [String: Int] = [:]
        var broken: [String] = []
    }

    @Test func everyCallHasOneOutcomeAndNothingIsLeft() async throws {
        let (callers, rounds) = (64, 150 * Workload.factor)
        print("PerformerStorm: \(callers) × \(rounds) calls, seed \(Workload.seed)")
        let tally = Locked(Tally())
        try await withEventLoop { loop in
            let monitor = StubNetworkMonitor(.offline())
            let performer = NetworkOperationPerformer(monitor: monitor, clock: LoopClock(on: loop))
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
                        for _ in 0..<rounds { await Self.call(performer, on: loop, tally, &random) }
                    }
                }
            }
            isOver.withLock { $0 = true }
            await flapping
            #expect(performer.census == PerformerCensus())
            #expect(!monitor.isObserved)
        }
        let result = tally.withLock { $0 }
        #expect(result.broken.isEmpty)
        #expect(result.outcomes.values.reduce(0, +) == callers * rounds)
        for outcome in ["value", "timedOut", "cancelled"] {
            #expect(result.outcomes[outcome, default: 0] > 0, "no overlap: \(result.outcomes)")
        }
        print("PerformerStorm: \(result.outcomes)")
    }

    private static func call(
        _ performer: NetworkOperationPerformer, on loop: EventLoop, _ tally: Locked<Tally>,
        _ random: inout SeededGenerator
    ) async {
        let runs = Locked(0)
        let limit = Duration.microseconds(Int.random(in: -50..<1500, using: &random))
        let isSupervised = Bool.random(using: &random)
        let task = Task(executorPreference: Bool.random(using: &random) ? loop : nil) {
            if isSupervised {
                return try await performer.perform(completingWithin: limit) {
                    runs.withLock { $0 += 1 }
                    for _ in 0..<5 {
                        try Task.checkCancellation()
                        await Task.yield()
                    }
                }
            }
            return try await performer.perform(within: limit) { runs.withLock { $0 += 1 } }
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            for _ in 0..<Int.random(in: 0..<5, using: &random) { await Task.yield() }
            task.cancel()
        }
        let (outcome, mayHaveRun): (String, ClosedRange<Int>)
        switch await task.result {
        case .success: (outcome, mayHaveRun) = ("value", 1...1)
        case .failure(let error as NetworkOperationError):
            let ran = error.code == .deadlineExceeded
            (outcome, mayHaveRun) = (error.code.description, ran ? 1...1 : 0...0)
        case .failure(is CancellationError): (outcome, mayHaveRun) = ("cancelled", isSupervised ? 0...1 : 0...0)
        case .failure(let error): (outcome, mayHaveRun) = ("\(error)", 0...0)
        }
        let count = runs.withLock { $0 }
        tally.withLock { tally in
            tally.outcomes[outcome, default: 0] += 1
            if !mayHaveRun.contains(count) { tally.broken.append("\(outcome), but the operation ran \(count) times") }
        }
    }
}
