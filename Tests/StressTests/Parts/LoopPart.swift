// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Uplink

/// A loop made and ended while tasks still sleep, hop and work on it.
struct LoopPart: StormPart {
    let name = "loops"
    let kinds = ["woken", "refused", "cancelled"]

    func round(_ scene: StormScene, _ record: StormRecord, _ random: inout SeededGenerator) async throws {
        try await round(record, &random)
    }

    /// The same, without a network.
    func round(_ record: StormRecord, _ random: inout SeededGenerator) async throws {
        var sleepers: [Task<Void, Never>] = []
        let cancels = random.oneIn(3)
        let pause = Int.random(in: 0..<4, using: &random)
        try await withEventLoop { loop in
            let clock = LoopClock(on: loop)
            sleepers = (0..<100).map { index in
                Task(executorPreference: index % 2 == 0 ? loop : nil) {
                    record.begin()
                    do {
                        try await clock.sleep(for: index % 5 == 0 ? .seconds(3600) : .microseconds(index * 40))
                        record.end("woken")
                    } catch is EventLoopError {
                        record.end("refused")
                    } catch {
                        record.end("cancelled")
                    }
                }
            }
            for sleeper in sleepers where cancels { sleeper.cancel() }
            async let work: Void = loop.offLoop {}
            try await clock.sleep(for: .milliseconds(pause))
            try await work
        }
        for sleeper in sleepers { await sleeper.value }
    }
}
