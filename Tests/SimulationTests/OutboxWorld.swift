// SPDX-License-Identifier: Apache-2.0
#if Store
@testable import UplinkStore

/// An outbox: `OutboxMachine` with a database, a network and a server that are models. What is read from the database
/// reaches the machine later than it was read, transactions fail, somebody cancels and retries, and the program is
/// killed.
final class OutboxWorld: World {
    private static let keys: [ExactKey] = ["a", "b", "c"]
    private static let longestPause = Duration.seconds(5)

    let dice: Dice
    private let maximumConcurrent: Int
    private var database = SimulatedOutbox()
    private var machine = OutboxMachine()
    /// Keys that are to be looked up; nil: all.
    private var changed: Set<ExactKey> = []
    private var knowsAll = false
    /// What the runner has read, and not told the machine yet.
    private var look: [ExactKey: OutboxMachine.Head?]?
    private var isWoken = true
    /// The time of the clock that only goes on, and what the wall clock shows beside it.
    private var (now, wallClock) = (Duration.zero, Duration.zero)
    private var deliveries: [Delivery] = []
    private var isOnline = true
    /// Entries that are being removed because somebody cancelled them.
    private var cancellations: [SimulatedOutbox.Row] = []
    /// Entries whose sending has ended for good.
    private var settled: Set<Int64> = []
    /// Until when entries rest that nobody wants tried again.
    private var rests: [Int64: Duration] = [:]

    /// Somebody sends an entry.
    private final class Delivery {
        enum Stage { case asksForNetwork, waits, sends }
        let claim: OutboxMachine.Claim
        var stage = Stage.asksForNetwork
        /// The entry, while its handler runs.
        var row: SimulatedOutbox.Row?
        init(_ claim: OutboxMachine.Claim) { self.claim = claim }
    }

    init(_ dice: Dice) {
        self.dice = dice
        maximumConcurrent = 1 + dice.roll(3)
        machine.restart(maximumConcurrent: maximumConcurrent)
    }

    // MARK: What happens

    func step() throws {
        switch dice.roll(16) {
        case 0: enqueue()
        case 2: isOnline.toggle()
        case 3: dice.isOne(in: 2) ? try cancel() : endCancellation()
        case 4: try retry()
        case 5: passTime(by: .milliseconds(dice.roll(3000)))
        case 6: passTimeToAlarm()
        case 7: if dice.isOne(in: 8) { restart() }
        case 1, 8, 9, 10: try run()
        default: if !deliveries.isEmpty { try goOn(dice.pick(deliveries), mayFail: true) }
        }
    }

    private func enqueue() {
        let key = dice.pick(Self.keys)
        let id = database.add(key)
        dice.tell("entry \(id) of \(key)")
        tell(key)
    }

    private func tell(_ key: ExactKey) {
        changed.insert(key)
        isWoken = true
    }

    private func passTime(by time: Duration) {
        now += time
        wallClock += dice.isOne(in: 10) ? .seconds(dice.roll(200) - 100) : time  // somebody sets it
        isWoken = true
    }

    private func passTimeToAlarm() { if let alarm = machine.alarm { passTime(by: max(.zero, alarm - now)) } }

    private func cancel() throws {
        guard let row = database.rows.randomElement(dice) else { return }
        let isSending = deliveries.contains { $0.row?.id == row.id }
        switch machine.withdraw([row.id]) {
        case .refused: try hold(isSending, "entry \(row.id) cannot be cancelled, and nobody sends it")
        case .granted:
            try hold(!isSending, "entry \(row.id) is cancelled while it is sent")
            dice.tell("entry \(row.id) is being cancelled")
            cancellations.append(row)
        }
    }

    private func endCancellation() {
        guard !cancellations.isEmpty else { return }
        let row = cancellations.removeFirst()
        if !dice.isOne(in: 5) { database.remove(row.id) }  // which may fail
        machine.withdrawalEnded(row.id)
        tell(row.key)
    }

    private func retry() throws {
        guard let row = database.rows.randomElement(dice) else { return }
        dice.tell("entry \(row.id) is tried again")
        try bringBack(row)
    }

    private func bringBack(_ row: SimulatedOutbox.Row) throws {
        settled.remove(row.id)
        let isResting = rests[row.id].map { machine.state(of: row.key) == .resting(until: $0) } ?? false
        // What comes after it is seen anew, and what is left of its rest is for the wall clock to say.
        for other in database.rows where other.key == row.key && other.id >= row.id { rests[other.id] = nil }
        database.change(row.id) { ($0.isFailed, $0.pause, $0.isRetried) = (false, nil, true) }
        machine.retried(row.key, row.id)
        if isResting { try holdIsReady(row.key) }
        tell(row.key)
    }

    private func holdIsReady(_ key: ExactKey) throws {
        let state = machine.state(of: key)
        try hold(state == .ready, "\(key) is to be tried again at once, and is \(state.map { "\($0)" } ?? "unknown")")
    }

    /// The program is killed, and another one begins to run the outbox.
    private func restart() {
        dice.tell("killed")
        machine = OutboxMachine()
        machine.restart(maximumConcurrent: maximumConcurrent)
        (deliveries, cancellations, look, changed, knowsAll, isWoken) = ([], [], nil, [], false, true)
        rests = [:]  // what is left of them is for the wall clock to say
    }

    /// A turn of the runner, in two halves: it reads, and it tells the machine and starts what can be sent.
    private func run() throws {
        guard let look = self.look else {
            guard isWoken else { return }
            machine.lookBegins()
            if dice.isOne(in: 10) { return }  // the database cannot be read
            self.look = database.heads(of: knowsAll ? changed : nil, wallClock: wallClock)
            (changed, knowsAll, isWoken) = ([], true, false)
            return
        }
        self.look = nil
        for (key, head) in look.sorted(by: { $0.key.text < $1.key.text }) { machine.looked(key, head, now: now) }
        for claim in machine.next(now: now) {
            dice.tell("entry \(claim.id) of \(claim.key) is to be sent")
            let isTaken = deliveries.contains { $0.claim.key == claim.key }
            try hold(!isTaken, "two entries of \(claim.key) are sent at once")
            try hold(!settled.contains(claim.id), "entry \(claim.id) is to be sent, by an old look")
            let isCancelled = cancellations.contains { $0.id == claim.id }
            try hold(!isCancelled, "entry \(claim.id) is to be sent, and being cancelled")
            let end = rests[claim.id] ?? now
            try hold(end <= now, "entry \(claim.id) is to be sent \(end - now) before its rest is over")
            // What waits behind it is looked up anew, and may have a rest that could not be noted.
            for row in database.rows where row.key == claim.key && row.id > claim.id { rests[row.id] = nil }
            deliveries.append(Delivery(claim))
        }
    }

    private func goOn(_ delivery: Delivery, mayFail: Bool) throws {
        switch delivery.stage {
        case .asksForNetwork, .waits:
            guard isOnline else {
                machine.waits(delivery.claim)
                return delivery.stage = .waits
            }
            guard machine.begins(delivery.claim), let row = database.row(delivery.claim.id), !row.isFailed else {
                return try finish(delivery, rest: nil)
            }
            try hold(!cancellations.contains { $0.id == row.id }, "entry \(row.id) is sent, and being cancelled")
            try database.checkMaySend(row)
            database.change(row.id) { $0.isRetried = false }
            dice.tell("entry \(row.id) is sent")
            (delivery.stage, delivery.row) = (.sends, row)
        case .sends:
            guard let row = delivery.row else { throw Violation("nothing is sent") }
            // What could not be noted, as on a full disk, rests all the same.
            if mayFail, dice.isOne(in: 6) { return try finish(delivery, rest: .seconds(1)) }
            if !mayFail || dice.isOne(in: 2) {
                database.remove(row.id)
                settled.insert(row.id)
                return try finish(delivery, rest: nil)
            }
            let isFinal = dice.isOne(in: 6)
            if isFinal { settled.insert(row.id) }
            let pause = Duration.milliseconds(1) + Self.longestPause * dice.roll(1000) / 1000
            database.change(row.id) { ($0.isFailed, $0.pause, $0.failedAt) = (isFinal, pause, wallClock) }
            try finish(delivery, rest: isFinal ? nil : pause)
        }
    }

    private func finish(_ delivery: Delivery, rest: Duration?) throws {
        dice.tell("entry \(delivery.claim.id) rests for \(rest.map { "\($0)" } ?? "-")")
        deliveries.removeAll { $0 === delivery }
        let isRetried = database.row(delivery.claim.id)?.isRetried ?? false
        rests[delivery.claim.id] = isRetried ? nil : rest.map { now + $0 }
        machine.ended(delivery.claim, rest: rest, now: now)
        if rest != nil, isRetried { try holdIsReady(delivery.claim.key) }
        tell(delivery.claim.key)
    }

    // MARK: What holds

    func check() throws {
        for key in Self.keys {
            guard case .resting(let until) = machine.state(of: key) else { continue }
            try hold(until - now <= Self.longestPause, "\(key) rests for \(until - now)")
        }
        try hold(deliveries.count <= maximumConcurrent, "\(deliveries.count) are sent at once")
        let sending = Set(deliveries.compactMap { $0.row?.id })
        try hold(machine.sending == sending, "\(sending) are sent, and the machine says \(machine.sending)")
    }

    func end() throws {
        isOnline = true
        while !cancellations.isEmpty { endCancellation() }
        for row in database.rows where row.isFailed { try bringBack(row) }
        for _ in 0..<2000 {
            if database.rows.isEmpty, deliveries.isEmpty { break }
            if isWoken || look != nil {
                try run()
            } else if let delivery = deliveries.first {
                try goOn(delivery, mayFail: false)
            } else if machine.alarm != nil {
                passTimeToAlarm()
            } else {
                throw Violation("\(database.rows.map(\.id)) wait, and nobody sends them")
            }
            try check()
        }
        try hold(database.rows.isEmpty, "\(database.rows.map(\.id)) are never sent")
    }
}
#endif
