// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Uplink
import UplinkTesting

/// The same calls on the kernel's own network, while its links, addresses and routes come and go; and readers of its
/// paths and changes, and monitors of destinations, that come and go as well.
struct KernelPart: StormPart {
    let name = "monitor"
    let kinds = ["value", "timedOut", "cancelled", "read"]

    func round(_ scene: StormScene, _ record: StormRecord, _ random: inout SeededGenerator) async throws {
        try await withEventLoop(networkNamespace: scene.network.device.path) { loop in
            let monitor = LinuxNetworkMonitor(on: loop)
            var readers: [Task<Void, Never>] = []
            for _ in 0..<8 { readers.append(reader(of: monitor, record, random.oneIn(2))) }
            let destination = try monitor.destination("203.0.113.1")
            let performers = [monitor, destination].map {
                NetworkOperationPerformer(monitor: $0, clock: LoopClock(on: loop), maximumRunning: 8)
            }
            let starts = [random.fork(), random.fork()]
            async let first: Void = storm(performers[0], loop, record, starts[0])
            async let second: Void = storm(performers[1], loop, record, starts[1])
            for reader in readers where random.oneIn(2) {
                try? await Task.sleep(for: .milliseconds(Int.random(in: 0..<20, using: &random)))
                reader.cancel()
            }
            _ = await (first, second)
            // Some readers are still there, and end with the monitor.
            if random.oneIn(2) { monitor.stop() } else { for reader in readers { reader.cancel() } }
            for reader in readers { await reader.value }
            monitor.stop()
        }
    }

    private func storm(
        _ performer: NetworkOperationPerformer, _ loop: EventLoop, _ record: StormRecord, _ start: SeededGenerator
    ) async {
        var random = start
        await StormPerformer(performer, on: loop, record, maximumRunning: 8)
            .storm(callers: 12, rounds: 10, within: -50..<60_000, &random)
    }

    private func reader(of monitor: LinuxNetworkMonitor, _ record: StormRecord, _ readsPaths: Bool) -> Task<Void, Never>
    {
        record.begin()
        return Task {
            do {
                if readsPaths {
                    for try await _ in monitor.paths {}
                } else {
                    for try await _ in monitor.changes {}
                }
            } catch {
                record.broken("a reader ended with \(error)")
            }
            record.end("read")
        }
    }
}
