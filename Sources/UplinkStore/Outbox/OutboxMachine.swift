// SPDX-License-Identifier: Apache-2.0
#if Store
/// Which entry of which key is sent when: the outbox's state machine.
///
/// It knows the first entry of each key. Times are those of a monotonic clock: a pause is turned into a moment of it once,
/// when the entry is first seen, so that setting the wall clock cannot make it longer.
struct OutboxMachine {
    /// The first entry of a key, as the database has it.
    struct Head: Equatable {
        let id: Int64
        /// What is left of its pause.
        let rest: Duration
    }

    /// An entry that somebody is to send.
    struct Claim: Equatable, Sendable {
        let key: String
        let id: Int64
    }

    /// Where a key's first entry stands.
    enum State: Equatable {
        /// It can be sent.
        case ready
        /// It has failed, and rests until this moment.
        case resting(until: Duration)
        /// Somebody was told to send it, and has not found out yet whether the network is there.
        case claimed
        /// The network is not there, and is waited for.
        case waiting
        /// The handler runs.
        case sending
    }

    enum Withdrawal: Equatable {
        /// It will not be sent; to be removed, and ``withdrawalEnded(_:)`` to be told.
        case granted
        /// The handler runs, and the server may have seen it.
        case refused
    }

    let maximumConcurrent: Int
    private var keys: [String: (id: Int64, state: State)] = [:]
    /// Entries that are being removed: they must not begin.
    private var withdrawn: Set<Int64> = []

    init(maximumConcurrent: Int) { self.maximumConcurrent = maximumConcurrent }

    /// The state of a key's first entry; nil when the key has none.
    func state(of key: String) -> State? { keys[key]?.state }

    /// The entries whose handlers run.
    var sending: Set<Int64> { Set(keys.values.filter { $0.state == .sending }.map(\.id)) }
    var isWaiting: Bool { keys.values.contains { $0.state == .waiting } }
    /// How many keys rest with their first entry.
    var resting: Int {
        keys.values.count { entry in
            switch entry.state {
            case .resting: true
            case .ready, .claimed, .waiting, .sending: false
            }
        }
    }

    /// A key's first entry was looked up, after a change. Nil: it has none.
    mutating func looked(_ key: String, _ head: Head?, now: Duration) {
        guard let known = keys[key] else {
            if let head { keys[key] = (head.id, state(of: head, now)) }
            return
        }
        switch known.state {
        case .claimed, .waiting, .sending: return  // it is looked up again at its end
        case .ready: break
        case .resting: if let head, head.id == known.id, head.rest > .zero { return }
        }
        keys[key] = head.map { ($0.id, state(of: $0, now)) }
    }

    private func state(of head: Head, _ now: Duration) -> State {
        head.rest > .zero ? .resting(until: now + head.rest) : .ready
    }

    /// Claims what can be sent now, the oldest first.
    mutating func next(now: Duration) -> [Claim] {
        var running = 0
        var ready: [Claim] = []
        for (key, entry) in keys {
            switch entry.state {
            case .claimed, .waiting, .sending: running += 1
            case .ready: ready.append(Claim(key: key, id: entry.id))
            case .resting(let until): if until <= now { ready.append(Claim(key: key, id: entry.id)) }
            }
        }
        ready.removeAll { withdrawn.contains($0.id) }
        guard running < maximumConcurrent, !ready.isEmpty else { return [] }
        let claims = ready.sorted { $0.id < $1.id }.prefix(maximumConcurrent - running)
        for claim in claims { keys[claim.key]?.state = .claimed }
        return Array(claims)
    }

    /// When the next entry has rested enough; nil when none rests, or none could be sent then.
    var alarm: Duration? {
        var first: Duration?
        for (_, entry) in keys {
            if case .resting(let until) = entry.state { first = min(first ?? until, until) }
        }
        return first
    }

    /// The network is not there.
    mutating func waits(_ claim: Claim) {
        if keys[claim.key]?.state == .claimed { keys[claim.key]?.state = .waiting }
    }

    /// The handler is about to run. False when it must not, because the entry is being removed.
    mutating func begins(_ claim: Claim) -> Bool {
        guard !withdrawn.contains(claim.id), keys[claim.key]?.id == claim.id else { return false }
        keys[claim.key]?.state = .sending
        return true
    }

    /// The sending of a claim has ended; the entry rests for so long, or the key is to be looked up again (nil).
    mutating func ended(_ claim: Claim, rest: Duration?, now: Duration) {
        guard keys[claim.key]?.id == claim.id else { return }
        keys[claim.key] = rest.map { (claim.id, .resting(until: now + $0)) }
    }

    /// Somebody wants an entry not to be sent.
    mutating func withdraw(_ id: Int64) -> Withdrawal {
        if sending.contains(id) { return .refused }
        withdrawn.insert(id)
        return .granted
    }

    /// The entry has been removed, or could not be; its key is to be looked up again.
    mutating func withdrawalEnded(_ id: Int64) { withdrawn.remove(id) }
}
#endif
