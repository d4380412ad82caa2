// SPDX-License-Identifier: Apache-2.0
#if Store
import UplinkCore

/// The keys' first entries by state, so that a step need not look at all keys: pure.
struct OutboxIndex {
    /// Those that can be sent, ordered by their numbers, which take the place of deadlines.
    private var ready = DeadlineHeap()
    /// Those that rest, ordered by the moment at which they have rested enough.
    private var resting = DeadlineHeap()
    /// The heaps' number of each key, and the key of each number.
    private var slots: [ExactKey: UInt32] = [:]
    private var heads: [OutboxMachine.Claim] = []
    private var freeSlots: [UInt32] = []

    /// The entries whose handlers run.
    private(set) var sending: Set<Int64> = []
    /// How many entries wait for the network.
    private(set) var waitingCount = 0
    /// How many entries rest, or have rested but could not be sent yet.
    private(set) var restingCount = 0
    /// How many entries are claimed, wait for the network or are being sent.
    private(set) var runningCount = 0

    /// Whether an entry can be sent.
    var hasReady: Bool { !ready.isEmpty }
    /// When the next entry will have rested enough; nil when none rests.
    var alarm: Duration? { resting.first.map { .nanoseconds($0.deadline) } }

    /// Adds a key, which was in no state, in a state.
    mutating func add(_ key: ExactKey, _ id: Int64, _ state: OutboxMachine.State) {
        switch state {
        case .ready: ready.insert(deadline: id, slot: takeSlot(for: .init(key: key, id: id)))
        case .resting(let until):
            restingCount += 1
            resting.insert(deadline: until.nanosecondsRoundedUp, slot: takeSlot(for: .init(key: key, id: id)))
        case .claimed: runningCount += 1
        case .waiting:
            runningCount += 1
            waitingCount += 1
        case .sending:
            runningCount += 1
            sending.insert(id)
        }
    }

    /// Removes a key from its state.
    mutating func remove(_ key: ExactKey, _ id: Int64, _ state: OutboxMachine.State) {
        switch state {
        case .ready: freeSlot(of: key)
        case .resting:
            restingCount -= 1
            freeSlot(of: key)
        case .claimed: runningCount -= 1
        case .waiting:
            runningCount -= 1
            waitingCount -= 1
        case .sending:
            runningCount -= 1
            sending.remove(id)
        }
    }

    /// The oldest entries that can be sent now, at most `count`; they stay where they are.
    ///
    /// - Parameter isHeld: Whether an entry must not be sent.
    mutating func oldest(_ count: Int, now: Duration, except isHeld: (Int64) -> Bool) -> [OutboxMachine.Claim] {
        while let entry = resting.popDue(at: now.nanosecondsRoundedDown) {
            ready.insert(deadline: heads[Int(entry.slot)].id, slot: entry.slot)
        }
        var claims: [OutboxMachine.Claim] = []
        var seen: [DeadlineHeap.Entry] = []
        while claims.count < count, let entry = ready.popDue(at: .max) {
            seen.append(entry)
            if !isHeld(entry.deadline) { claims.append(heads[Int(entry.slot)]) }
        }
        for entry in seen { ready.insert(deadline: entry.deadline, slot: entry.slot) }
        return claims
    }

    private mutating func takeSlot(for head: OutboxMachine.Claim) -> UInt32 {
        let slot = freeSlots.popLast() ?? UInt32(heads.count)
        if Int(slot) == heads.count { heads.append(head) } else { heads[Int(slot)] = head }
        slots[head.key] = slot
        return slot
    }

    private mutating func freeSlot(of key: ExactKey) {
        guard let slot = slots.removeValue(forKey: key) else { return }
        ready.remove(slot: slot)
        resting.remove(slot: slot)
        freeSlots.append(slot)
    }
}
#endif
