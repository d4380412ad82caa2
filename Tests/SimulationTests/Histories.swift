// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// Random histories of the machines in model worlds, with what must hold checked after each step: 120,000 of them with
/// `UPLINK_FULL=1`. One thread does everything, so that ThreadSanitizer would see nothing in it.
@Suite(.timeLimit(.minutes(30)), .serialized, .disabled(if: Timing.isInstrumented, "one thread"))
struct Histories {
    /// Calls of every form, the network that comes and goes, time that passes, and jobs in any order.
    @Test func performer() { Simulation.run(PerformerWorld.self, histories: 300, full: 25_000, steps: 120) }

    /// Links, addresses and routes that change, and messages about them that come late, are dropped or are forged.
    @Test func monitor() { Simulation.run(MonitorWorld.self, histories: 100, full: 10_000, steps: 60) }

    /// Transfers in queues, servers that break off, readers that are slow, and limits on everything.
    @Test func transfers() { Simulation.run(TransferWorld.self, histories: 300, full: 20_000, steps: 120) }

    /// A file that changes on a server that answers in every way, connections that break, and `kill -9`.
    @Test func download() { Simulation.run(DownloadWorld.self, histories: 400, full: 15_000, steps: 60) }

    /// Bodies of requests, longer and shorter than announced, and engines that want no more of them.
    @Test func upload() { Simulation.run(UploadWorld.self, histories: 300, full: 5_000, steps: 100) }

    /// Work that many want at once, some of whom leave.
    @Test func sharing() { Simulation.run(SharingWorld.self, histories: 300, full: 5_000, steps: 100) }

    /// Tokens that are refused to many at once, while others ask for new ones.
    @Test func tokens() { Simulation.run(TokenWorld.self, histories: 300, full: 5_000, steps: 150) }

    /// Requests that may be sent again, and such that must not.
    @Test func retry() { Simulation.run(RetryWorld.self, histories: 300, full: 5_000, steps: 20) }

    /// All of them at once: a kernel's messages, the monitor, the performer, a transfer and a download on one clock.
    @Test func outage() { Simulation.run(OutageWorld.self, histories: 100, full: 5_000, steps: 150) }

    #if Store
    /// Entries that are added, cancelled and tried again, sent in their order, and `kill -9`.
    @Test func outbox() { Simulation.run(OutboxWorld.self, histories: 400, full: 15_000, steps: 300) }

    /// Values that change, and a sync whose end comes before or after what it wrote.
    @Test func stream() { Simulation.run(StreamWorld.self, histories: 400, full: 10_000, steps: 60) }
    #endif

    /// The same history twice, which is what a seed is worth.
    @Test func aSeedTellsAWholeHistory() {
        for seed in 1...20 as ClosedRange<UInt64> {
            let stories = (0..<2).map { _ in
                let dice = Dice(seed: seed, tells: true)
                _ = Simulation.violation(in: PerformerWorld.self, dice, 120)
                return dice.story
            }
            #expect(stories[0] == stories[1])
        }
    }
}
