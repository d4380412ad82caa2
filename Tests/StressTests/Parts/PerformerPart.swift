// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Uplink
import UplinkTesting

/// Calls of every form and outcome from many tasks, while the network flaps and callers are cancelled. Real time,
/// because the races are between real threads; the loop's clock, because its heap is to be raced too.
struct PerformerPart: StormPart {
    let name = "performer"
    let kinds = ["value", "own", "timedOut", "cancelled", "deadlineExceeded", "networkLost", "ran again"]

    /// How many calls a round makes.
    static let calls = callers * rounds
    private static let (callers, rounds) = (32, 25)

    /// How many operations may run at once; nil for a round without a limit, then one with.
    var maximumRunning: [Int?] = [nil, 8]

    func round(_ scene: StormScene, _ record: StormRecord, _ random: inout SeededGenerator) async throws {
        try await round(record, &random)
    }

    /// The same, without a network.
    func round(_ record: StormRecord, _ random: inout SeededGenerator) async throws {
        for maximum in maximumRunning {
            try await withEventLoop { loop in
                let monitor = StubNetworkMonitor(.offline())
                let performer = NetworkOperationPerformer(
                    monitor: monitor, clock: LoopClock(on: loop), maximumRunning: maximum)
                let start = random.fork()
                let flapping = Task {
                    var random = start
                    while !Task.isCancelled {
                        monitor.goOnline()
                        for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
                        monitor.goOffline()
                        try? await Task.sleep(for: .microseconds(Int.random(in: 0..<400, using: &random)))
                    }
                }
                await StormPerformer(performer, on: loop, record, maximumRunning: maximum)
                    .storm(callers: Self.callers, rounds: Self.rounds, within: -50..<2000, &random)
                flapping.cancel()
                await flapping.value
                // The performer's reader is a task of its own, which hears of the end.
                try await eventually(within: .seconds(120), "nobody observes the monitor") { !monitor.isObserved }
            }
        }
    }
}
