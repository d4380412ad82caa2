// SPDX-License-Identifier: Apache-2.0
#if Store
import UplinkCore

/// The syncs under way, one for each key, and how far they are.
final class SharedSyncs: Sendable {
    private struct Place: Hashable {
        let era: UInt64
        let key: ExactKey
    }

    private let shared = SharedWork<Place, SyncReceipt>()
    /// How often everything was cleared.
    private let era = Locked<UInt64>(0)
    private let board = Locked(StageBoard())

    /// Whether nothing is under way, and no one listens.
    var isIdle: Bool { shared.isIdle && board.withLock { $0.isEmpty } }

    /// How many callers wait for a sync; for tests.
    var waiting: Int { shared.waiting }

    /// How far the key's sync is; nil when none is under way.
    func stage(of key: ExactKey) -> SyncStage? { board.withLock { $0.stage(of: key) } }

    /// Begins a new era because everything is cleared: later callers share no sync that began before.
    func beginEra() { era.withLock { $0 += 1 } }

    /// Ends the syncs of earlier eras, whatever they wait for.
    func endEarlierEras() {
        let now = era.withLock { $0 }
        shared.end { place in place.era < now ? StoreError.cleared(place.key.text) : nil }
    }

    /// Whether this era is still the current one, so that there was no clearing of everything since it began.
    func isCurrent(_ era: UInt64) -> Bool { self.era.withLock { $0 == era } }

    /// Joins the key's sync, or starts one.
    ///
    /// - Parameters:
    ///   - listener: Called with the sync's stages, also if another caller started it; they may come out of order, from
    ///     any thread.
    ///   - work: The sync. It gets its era, and a closure to report its stages with.
    func join(
        _ key: ExactKey, listener: @escaping StageBoard.Listener,
        _ work: @escaping @Sendable (_ era: UInt64, @escaping @Sendable (SyncStage) -> Void) async throws -> SyncReceipt
    ) async throws -> SyncReceipt {
        let (id, step) = board.withLock { $0.listen(to: key, listener) }
        defer { board.withLock { $0.ignore(id, key) } }
        if let step { listener(step) }
        let era = era.withLock { $0 }
        return try await shared.value(for: Place(era: era, key: key)) { [board] in
            let number = board.withLock { $0.begin(key) }
            defer { board.withLock { $0.end(key, number) } }
            return try await work(era) { stage in
                let (step, listeners) = board.withLock { $0.reached(stage, key, number) }
                for listener in listeners { listener(step) }
            }
        }
    }
}
#endif
