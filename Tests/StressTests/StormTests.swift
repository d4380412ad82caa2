// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import Uplink
import UplinkTesting

/// Everything at once, for as long as the environment says, and nothing is left.
///
/// What is asserted are counts and leftovers, never how long something took: the machine may be slow.
@Suite(
    .timeLimit(.minutes(Int(Workload.duration / .seconds(60)) + 10)), .undisturbed, .serialized,
    .needsNetworkNamespaces)
struct StormTests {
    private static var parts: [any StormPart] {
        var parts: [any StormPart] = [
            PerformerPart(), LoopPart(), KernelPart(), TransferPart(), DownloadPart(), CPart(),
        ]
        #if Store
        parts.append(StorePart())
        #endif
        return parts
    }

    @Test func everyCallHasOneOutcomeAndNothingIsLeft() async throws {
        print("The storm blows for \(Workload.duration); again: \(Workload.command)")
        let parts = Self.parts.map { ($0, StormRecord()) }
        let weather = StormRecord()
        // What stays for the process: the shared loop, and libuv's threads.
        try await EventLoop.shared.offLoop {}
        let leftovers = Leftovers()
        let backtraces = ErrorBacktraces.stop()
        defer { backtraces.resume() }
        var memory = MemoryRecord()
        try await withTestNetwork { network in
            try network.router.ip("addr add \(DownloadPart.address)/32 dev lo")
            let scene = StormScene(network: network, end: .now + Workload.duration)
            async let weatherEnds: Void = weather.round {
                try await Weather(network: network).blow(weather, seed: Workload.seed) { scene.isOver }
            }
            async let storm: Void = withDiscardingTaskGroup { group in
                for (part, record) in parts { group.addTask { await scene.run(part, record, seed: Workload.seed) } }
            }
            while !scene.isOver {
                try await Task.sleep(for: .seconds(1))
                memory.sample()
            }
            await storm
            await weatherEnds
        }
        for (part, record) in parts {
            record.close(part.kinds)
            print(record.line(part.name))
        }
        weather.close(["changed"])
        print(weather.line("weather"))
        print("  memory: \(memory.description)")
        let left = await leftovers.find()
        var faults = parts.flatMap { part, record in record.faults.map { "\(part.name): \($0)" } }
        faults += weather.faults + left + memory.faults
        #expect(faults == [], "again: \(Workload.command)")
    }
}

/// Parts of the storm by themselves, with the counts that the issues name.
@Suite(
    .timeLimit(.minutes(60)), .undisturbed, .serialized,
    .enabled(if: Workload.factor != nil, "for scripts/stress --full"))
struct CountTests {
    /// A million calls with a factor of 105.
    @Test(arguments: [nil, 8]) func performers(maximumRunning: Int?) async throws {
        let calls = 9600 * (Workload.factor ?? 1)
        let part = PerformerPart(maximumRunning: [maximumRunning])
        await storm(part, rounds: calls / PerformerPart.calls) { try await part.round($0, &$1) }
    }

    @Test func loops() async throws {
        let part = LoopPart()
        await storm(part, rounds: 30 * (Workload.factor ?? 1)) { try await part.round($0, &$1) }
    }

    private func storm(
        _ part: any StormPart, rounds: Int,
        _ round: (StormRecord, inout SeededGenerator) async throws -> Void
    ) async {
        let record = StormRecord()
        try? await EventLoop.shared.offLoop {}
        let leftovers = Leftovers()
        var random = SeededGenerator(seed: Workload.seed, part.name)
        for _ in 0..<rounds { await record.round { try await round(record, &random) } }
        record.close(part.kinds)
        print("seed \(Workload.seed)\n\(record.line(part.name))")
        let left = await leftovers.find()
        #expect(record.faults + left == [])
    }
}
