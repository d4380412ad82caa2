// SPDX-License-Identifier: Apache-2.0
#if Store
/// The outbox's state machine, which decides when each key's entry is sent.
///
/// It knows the first entry of each key. Times are those of a monotonic clock: a pause is converted to a moment on it
/// once, when the entry is first seen, so that setting the wall clock cannot make the pause longer.
struct OutboxMachine {
    /// The first entry of a key, as the database has it.
    struct Head: Equatable {
        let id: Int64
        /// What is left of its pause.
        let rest: Duration
    }

    /// An entry that the caller is to send.
    struct Claim: Equatable, Sendable {
        let key: ExactKey
        let id: Int64
    }

    /// The state of a key's first entry.
    enum State: Equatable {
        /// It can be sent.
        case ready
        /// It has failed, and rests until this moment.
        case resting(until: Duration)
        /// It has been handed out to be sent, but it is not known yet whether the network is there.
        case claimed
        /// It waits for the network.
        case waiting
        /// The handler runs.
        case sending
    }

    enum Withdrawal: Equatable {
        /// They will not be sent. Remove them, then call ``withdrawalEnded(_:)`` for each.
        case granted
        /// The handler of one is running, and the server may have seen it.
        case refused
    }

    private var maximumConcurrent = 0
    private var keys: [ExactKey: (id: Int64, state: State)] = [:]
    /// The same keys by their states.
    private var index = OutboxIndex()
    /// Keys whose sending has ended, or whose entry was retried, since the last look began, which may therefore have
    /// read an older state of them.
    private var changedSinceLook: Set<ExactKey> = []
    /// Entries that are being sent, and will not rest if that fails.
    private var retriedWhileSending: Set<Int64> = []
    /// Entries that are being removed, and by how many calls: their sending must not begin, in this run or the next.
    private var withdrawn: [Int64: Int] = [:]

    /// Forgets all keys because a run begins, or because it has ended (nothing is then sent).
    mutating func restart(maximumConcurrent: Int) {
        self.maximumConcurrent = maximumConcurrent
        (keys, index, changedSinceLook, retriedWhileSending) = ([:], OutboxIndex(), [], [])
    }

    /// The state of a key's first entry; nil when the key has none.
    func state(of key: ExactKey) -> State? { keys[key]?.state }

    /// The entries whose handlers run.
    var sending: Set<Int64> { index.sending }
    /// Whether nothing is being sent, and nothing could be.
    var isIdle: Bool { index.runningCount == 0 && !index.hasReady }
    /// Whether an entry waits for the network.
    var isWaiting: Bool { index.waitingCount > 0 }
    /// How many keys rest with their first entry.
    var resting: Int { index.restingCount }
    /// When the next entry has rested enough; nil when none rests.
    var alarm: Duration? { index.alarm }

    /// Puts a key into a state, or forgets it: the one place where a state changes.
    private mutating func put(_ key: ExactKey, _ entry: (id: Int64, state: State)?) {
        if let old = keys[key] { index.remove(key, old.id, old.state) }
        keys[key] = entry
        if let entry { index.add(key, entry.id, entry.state) }
    }

    /// Call before the database is asked for what ``looked(_:_:now:)`` will be given.
    mutating func lookBegins() { changedSinceLook = [] }

    /// Records the first entry of a key, looked up after a change. Nil: it has none.
    ///
    /// This is ignored if the key's sending has ended since ``lookBegins()``, or its entry was retried, because the key
    /// is then looked up again. Nor does it end a rest, which is missing in the database if that could not be written.
    mutating func looked(_ key: ExactKey, _ head: Head?, now: Duration) {
        guard !changedSinceLook.contains(key) else { return }
        guard let known = keys[key] else {
            if let head { put(key, (head.id, state(of: head, now))) }
            return
        }
        switch known.state {
        case .claimed, .waiting, .sending: return  // it is looked up again when that ends
        case .ready: break
        case .resting: if head?.id == known.id { return }
        }
        put(key, head.map { ($0.id, state(of: $0, now)) })
    }

    private func state(of head: Head, _ now: Duration) -> State {
        head.rest > .zero ? .resting(until: now + head.rest) : .ready
    }

    /// Claims the entries that can be sent now, the oldest first.
    mutating func next(now: Duration) -> [Claim] {
        let room = maximumConcurrent - index.runningCount
        let claims = index.oldest(room, now: now, except: { withdrawn[$0] != nil })
        for claim in claims { put(claim.key, (claim.id, .claimed)) }
        return claims
    }

    /// Records that the network is not there.
    mutating func waits(_ claim: Claim) {
        if let known = keys[claim.key], known.state == .claimed { put(claim.key, (known.id, .waiting)) }
    }

    /// Records that the handler is about to run. False when it must not, because the entry is being removed.
    mutating func begins(_ claim: Claim) -> Bool {
        guard withdrawn[claim.id] == nil, keys[claim.key]?.id == claim.id else { return false }
        put(claim.key, (claim.id, .sending))
        return true
    }

    /// Records that the sending of a claim has ended. The entry rests for this long; nil: its key is to be looked up
    /// again.
    mutating func ended(_ claim: Claim, rest: Duration?, now: Duration) {
        guard keys[claim.key]?.id == claim.id else { return }
        changedSinceLook.insert(claim.key)
        let isRetried = retriedWhileSending.remove(claim.id) != nil
        put(claim.key, rest.map { (claim.id, isRetried ? .ready : .resting(until: now + min($0, .longest))) })
    }

    /// Makes an entry due immediately; its key is to be looked up again.
    mutating func retried(_ key: ExactKey, _ id: Int64) {
        changedSinceLook.insert(key)
        guard let known = keys[key], known.id == id else { return }
        switch known.state {
        case .ready, .claimed, .waiting: break
        case .resting: put(key, (id, .ready))
        case .sending: retriedWhileSending.insert(id)
        }
    }

    /// Whether an entry that is being sent will not rest if that fails.
    func isRetried(_ id: Int64) -> Bool { retriedWhileSending.contains(id) }

    /// Withdraws entries, so that they are not sent: all of them, or none.
    mutating func withdraw(_ ids: Set<Int64>) -> Withdrawal {
        if !sending.isDisjoint(with: ids) { return .refused }
        for id in ids { withdrawn[id, default: 0] += 1 }
        return .granted
    }

    /// Records that an entry has been removed, or could not be; its key is to be looked up again.
    mutating func withdrawalEnded(_ id: Int64) {
        guard let count = withdrawn[id] else { return }
        withdrawn[id] = count > 1 ? count - 1 : nil
    }
}
#endif
