// SPDX-License-Identifier: Apache-2.0
import TestSupport
import UplinkTesting

/// A part of the storm: it makes what it needs, works it hard, ends it, and checks that nothing of it is left, again
/// and again while the other parts do the same beside it.
protocol StormPart: Sendable {
    /// What the report calls it.
    var name: String { get }
    /// Outcomes that show that things did overlap: each is seen where there were many calls.
    var kinds: [String] { get }

    /// One round, with a beginning and an end. What it throws counts as broken.
    func round(_ scene: StormScene, _ record: StormRecord, _ random: inout SeededGenerator) async throws
}

/// What all parts share.
struct StormScene: Sendable {
    /// A device whose network comes and goes, and a router with servers.
    let network: TestNetwork
    /// When the storm is to end; rounds that run end by themselves.
    let end: ContinuousClock.Instant

    var isOver: Bool { ContinuousClock.now >= end }

    /// Goes from round to round until time is up.
    func run(_ part: any StormPart, _ record: StormRecord, seed: UInt64) async {
        var random = SeededGenerator(seed: seed, part.name)
        while !isOver { await record.round { try await part.round(self, record, &random) } }
    }
}
