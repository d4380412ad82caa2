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

/// How far a sync is.
public enum SyncStage: Int, Sendable, Hashable, Comparable {
    /// It has begun, and asks for the network.
    case starting
    /// It waits for the network, which is not there or not as required.
    case waiting
    /// The fetch or the write is running.
    case loading

    /// The order in which a sync goes through the stages.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A stage that a sync has reached; the later one has the higher number.
struct SyncStep: Sendable, Equatable {
    let number: UInt64
    let stage: SyncStage

    static let first = SyncStep(number: 0, stage: .starting)
}

/// What a sync left in the database.
struct SyncReceipt: Sendable, Equatable {
    /// The record's number after it.
    let number: Int64
    /// Whether the fetch brought data.
    let isNews: Bool
    /// How old the last sync was, if it was recent enough that nothing was fetched.
    var age: Duration?
}

/// The stages of the syncs, and their listeners: pure.
struct StageBoard {
    typealias Listener = @Sendable (SyncStep) -> Void

    private var running: [ExactKey: (number: UInt64, step: SyncStep)] = [:]
    private var listeners: [ExactKey: [UInt64: Listener]] = [:]
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { running.isEmpty && listeners.isEmpty }

    func stage(of key: ExactKey) -> SyncStage? { running[key]?.step.stage }

    /// Records that a sync has begun. One that was given up may still be unwinding; it is no longer reported.
    mutating func begin(_ key: ExactKey) -> UInt64 {
        lastNumber += 1
        running[key] = (lastNumber, SyncStep(number: lastNumber, stage: .starting))
        return lastNumber
    }

    /// Records a stage, and returns the listeners to call with it.
    mutating func reached(
        _ stage: SyncStage, _ key: ExactKey, _ number: UInt64
    ) -> (step: SyncStep, listeners: [Listener]) {
        lastNumber += 1
        let step = SyncStep(number: lastNumber, stage: stage)
        guard running[key]?.number == number else { return (step, []) }
        running[key]?.step = step
        return (step, listeners[key].map { Array($0.values) } ?? [])
    }

    mutating func end(_ key: ExactKey, _ number: UInt64) {
        if running[key]?.number == number { running[key] = nil }
    }

    mutating func listen(to key: ExactKey, _ listener: @escaping Listener) -> (id: UInt64, step: SyncStep?) {
        lastNumber += 1
        listeners[key, default: [:]][lastNumber] = listener
        return (lastNumber, running[key]?.step)
    }

    mutating func ignore(_ id: UInt64, _ key: ExactKey) {
        listeners[key]?[id] = nil
        guard listeners[key]?.isEmpty == true else { return }
        listeners[key] = nil
        running[key] = nil  // given up; it may take its time to unwind
    }
}
#endif
