// SPDX-License-Identifier: Apache-2.0
@testable import UplinkHTTP

/// Transfers from the queue to the last byte: `HostQueues`, `ResolveGate`, `TransferMachine` and `MailboxMachine` with
/// an engine, servers and readers that are models. What happens in one turn of the loop is handed over at its end, and
/// what a reader says reaches the engine later, as it does between threads.
final class TransferWorld: World {
    enum Limits {
        static let (running, runningPerHost, waiting, resolving) = (3, 2, 5, 1)
        static let (lowMark, highMark, piece) = (8, 32, 48)
    }

    /// What somebody on another thread has said, which the engine does not know yet.
    enum Message { case demand, cancel }

    let dice: Dice
    private let pool = SlabPool(keeping: 4)
    /// What all bodies together may hold: less than one large piece, or several.
    private let memory: Int
    private var now: Int64 = 0
    private var transfers: [SimulatedTransfer] = []
    private var messages: [(SimulatedTransfer, Message)] = []
    private var queues = HostQueues(
        maximumRunning: Limits.running, maximumRunningPerHost: Limits.runningPerHost, maximumWaiting: Limits.waiting)
    private var gate = ResolveGate(maximumResolving: Limits.resolving)
    private var lastTurns: [String: UInt64] = [:]

    init(_ dice: Dice) {
        self.dice = dice
        memory = dice.pick([Limits.highMark, 80])
    }

    private var alive: [SimulatedTransfer] { transfers.filter { !$0.isEnded } }
    private var held: Int { transfers.reduce(0) { $0 + $1.mailbox.bytes } }
    private func transfer(_ id: UInt64) -> SimulatedTransfer { transfers[Int(id)] }

    // MARK: What happens

    func step() throws {
        switch dice.roll(12) {
        case 0: if transfers.count < 8 { try add() }
        case 1: try passTime()
        case 2: try deliverMessage()
        case 3: try endTurn()
        case 4, 5, 6: if !transfers.isEmpty { try letRead(dice.pick(transfers)) }
        default: if !transfers.isEmpty { try letServe(dice.pick(transfers)) }
        }
    }

    private func add() throws {
        let transfer = SimulatedTransfer(id: UInt64(transfers.count), dice, now: now)
        transfers.append(transfer)
        let isTaken = queues.add(transfer.id, host: transfer.host)
        dice.tell("\(transfer) of \(transfer.total) bytes \(isTaken ? "waits its turn" : "is refused")")
        if !isTaken { try act(transfer.machine.engineFinished(succeeded: false), on: transfer) }
        try startTurns()
    }

    private func startTurns() throws {
        while let id = queues.next() {
            let transfer = transfer(id)
            try hold(lastTurns[transfer.host] ?? 0 <= id, "\(transfer) has its turn after one that came later")
            lastTurns[transfer.host] = id
            transfer.hasTurn = true
            try act(transfer.machine.turnCame(now: now), on: transfer)
        }
    }

    private func passTime() throws {
        let due = alive.compactMap(\.machine.deadline).min() ?? now
        now = dice.isOne(in: 2) ? max(now, due) : now + Int64(dice.roll(40))
        dice.tell("it is \(now)")
        for transfer in alive {
            try act(transfer.machine.timePassed(now: now), on: transfer)
            try hold(transfer.machine.deadline ?? .max > now, "\(transfer) is beyond its deadline")
        }
    }

    private func deliverMessage() throws {
        guard !messages.isEmpty else { return }
        let (transfer, message) = messages.removeFirst()
        switch message {
        case .demand: try act(transfer.machine.demanded(now: now), on: transfer)
        case .cancel: try act(transfer.machine.cancelled(), on: transfer)
        }
    }

    private func endTurn() throws {
        for transfer in transfers where transfer.isActive { try publish(transfer) }
    }

    // MARK: The engine and the servers

    private func letServe(_ transfer: SimulatedTransfer) throws {
        if !transfer.isEnded, dice.isOne(in: 40) {
            dice.tell("\(transfer) is cancelled")
            return try act(transfer.machine.cancelled(), on: transfer)
        }
        switch transfer.machine.phase {
        case .queued, .gated, .bodyPaused: break
        case .connecting: try connect(transfer)
        case .awaitingHead: try awaitHead(transfer)
        case .bodyFlowing: try sendBody(transfer)
        case .ended: try transfer.checkNothingMoves(now: now)
        }
    }

    private func connect(_ transfer: SimulatedTransfer) throws {
        if dice.isOne(in: 8) { return try fail(transfer) }
        for id in gate.resolved(transfer.id) { try act(self.transfer(id).machine.gateOpened(), on: self.transfer(id)) }
        transfer.machine.requestGoesOut(now: now)
    }

    private func awaitHead(_ transfer: SimulatedTransfer) throws {
        switch dice.roll(8) {
        case 0: try fail(transfer)
        case 1:
            (transfer.awaits, transfer.isProducerAwaited) = (.stall, false)
            transfer.machine.bodyIsSent(now: now)
        case 2:
            transfer.isProducerAwaited = true
            transfer.machine.bodyIsAwaited()
        case 3:
            (transfer.awaits, transfer.isProducerAwaited) = (.firstByte, false)
            transfer.machine.bodyWasSent(now: now)
        default: transfer.hasHead = transfer.machine.headArrived(now: now)
        }
    }

    private func sendBody(_ transfer: SimulatedTransfer) throws {
        if transfer.sent == transfer.total {
            dice.tell("\(transfer) is whole")
            return try act(transfer.machine.engineFinished(succeeded: true), on: transfer)
        }
        if dice.isOne(in: 20) { return try fail(transfer) }
        let piece = 1 + dice.roll(dice.isOne(in: 3) ? Limits.lowMark : Limits.piece)
        try offer(min(piece, transfer.total - transfer.sent), of: transfer)
    }

    /// Brings bytes; those that are not kept, libcurl brings again when the transfer goes on.
    private func offer(_ count: Int, of transfer: SimulatedTransfer) throws {
        let isShort = held >= memory
        let intake = transfer.machine.bytesArrived(
            count, buffered: transfer.mailbox.bytes, isMemoryShort: isShort, now: now)
        dice.tell("\(count) bytes for \(transfer), which holds \(transfer.mailbox.bytes): \(intake)")
        transfer.isActive = true
        switch intake {
        case .keep: transfer.receive(count, from: pool)
        case .pause: (transfer.refused, transfer.isHeldByMemory) = (count, isShort)
        case .refuse: throw Violation("\(transfer) refuses bytes")
        }
    }

    private func fail(_ transfer: SimulatedTransfer) throws {
        dice.tell("\(transfer) fails")
        try act(transfer.machine.engineFinished(succeeded: false), on: transfer)
    }

    private func act(_ action: TransferMachine.Action, on transfer: SimulatedTransfer) throws {
        switch action {
        case .none: break
        case .enterGate:
            if gate.enter(transfer.id, lookup: transfer.host) { try act(transfer.machine.gateOpened(), on: transfer) }
        case .start: dice.tell("\(transfer) starts")
        case .resume:
            try transfer.check(now: now)
            guard let count = transfer.refused else { throw Violation("\(transfer) is resumed, and has no bytes") }
            transfer.refused = nil
            try offer(count, of: transfer)
        case .end(let ending):
            try hold(transfer.ending == nil, "\(transfer) ends twice")
            dice.tell("\(transfer) ends: \(ending)")
            transfer.ending = ending
            if transfer.machine.lastPhase == .awaitingHead, case .timedOut(let limit) = ending, limit != .total {
                try hold(limit == transfer.awaits, "\(limit) is over, and \(transfer.awaits) held")
            }
            queues.remove(transfer.id)
            let next = gate.left(transfer.id)
            try publish(transfer)
            let end: MailboxMachine<Int>.End = ending == .complete ? .complete : .failed(Violation("\(ending)"))
            try transfer.wake(transfer.mailbox.finish(end).waiter)
            for id in next { try act(self.transfer(id).machine.gateOpened(), on: self.transfer(id)) }
            try startTurns()
        }
    }

    private func publish(_ transfer: SimulatedTransfer) throws {
        transfer.isActive = false
        let isPaused = transfer.machine.phase == .bodyPaused
        let delivery = transfer.mailbox.flush(isPaused: isPaused, untilEmpty: transfer.isHeldByMemory)
        try transfer.wake(delivery.waiter)
        if delivery.demand { try transfer.checkMayDemand() }
        if delivery.demand { messages.append((transfer, .demand)) }
    }

    // MARK: Readers

    private func letRead(_ transfer: SimulatedTransfer) throws {
        guard transfer.hasHead, !transfer.isRead else { return }
        if dice.isOne(in: 25), transfer.mailbox.cancel() { messages.append((transfer, .cancel)) }
        if transfer.parked != nil { return }
        guard let message = try transfer.read() else { return }
        if message == .demand { try transfer.checkMayDemand() }
        messages.append((transfer, message))
    }

    // MARK: What holds

    func check() throws {
        let running = alive.filter(\.hasTurn)
        try hold(running.count <= Limits.running, "\(running.count) run at once")
        let waiting = alive.filter { !$0.hasTurn }
        for host in SimulatedTransfer.hosts {
            let count = running.count { $0.host == host }
            try hold(count <= Limits.runningPerHost, "\(count) run at once for \(host)")
            let waits = waiting.contains { $0.host == host }
            let hasRoom = running.count < Limits.running && count < Limits.runningPerHost
            try hold(!waits || !hasRoom, "somebody waits for \(host), where there is room")
        }
        try hold(gate.leaders.count <= Limits.resolving, "\(gate.leaders.count) resolve at once")
        try hold(held <= memory + transfers.count * Limits.piece, "\(held) bytes are held")
        for transfer in transfers {
            try transfer.check(now: now)
            let isToldOf = transfer.isActive || messages.contains { $0.0 === transfer }
            let isStuck = transfer.machine.phase == .bodyPaused && transfer.mailbox.bytes == 0 && !isToldOf
            try hold(!isStuck, "\(transfer) is held up, its reader has read all, and nobody says so")
        }
    }

    func end() throws {
        for _ in 0..<4000 {
            if transfers.allSatisfy(\.isOver) { break }
            try endTurn()
            try deliverMessage()
            for transfer in transfers {
                try letRead(transfer)
                try letServe(transfer)
            }
            try check()
        }
        for transfer in transfers { try hold(transfer.isOver, "\(transfer) never ended; \(transfer.machine.phase)") }
        try hold(held == 0, "\(held) bytes are left")
        try hold(gate.leaders.isEmpty, "\(gate.leaders) still resolve")
    }
}
