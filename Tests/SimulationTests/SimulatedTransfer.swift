// SPDX-License-Identifier: Apache-2.0
import UplinkCore

@testable import UplinkHTTP

/// A transfer in a ``TransferWorld``: its machines, what its server has sent, and what its reader has read.
final class SimulatedTransfer: CustomStringConvertible {
    static let hosts = ["a", "b"]

    let id: UInt64
    let host: String
    let total: Int
    private let timeouts: HTTPTimeouts
    /// What the final head is awaited within.
    var awaits = TransferMachine.Timeout.firstByte
    /// Whether the request's producer holds it up, which has all the time that it wants.
    var isProducerAwaited = false
    var machine: TransferMachine
    var mailbox = MailboxMachine<Int>(lowMark: TransferWorld.Limits.lowMark)
    /// Whether the reader wants the body in one piece.
    private let isGathered: Bool
    private var isGathering = false

    var hasTurn = false
    var hasHead = false
    /// Something happened in this turn of the loop that the reader does not know yet.
    var isActive = false
    /// Bytes that the server has sent and the mailbox has.
    var sent = 0
    /// Bytes that were offered, and that the engine holds because the transfer is held up.
    var refused: Int?
    var isHeldByMemory = false
    var ending: TransferMachine.Ending?
    /// The reader's suspension, if it is suspended.
    private(set) var parked: Int?
    private var suspensions = 0
    private var taken = 0
    private(set) var isRead = false

    init(id: UInt64, _ dice: Dice, now: Int64) {
        self.id = id
        host = dice.pick(Self.hosts)
        total = dice.pick([0, 1, 60, 300])
        isGathered = dice.isOne(in: 4)
        func limit(_ most: Int) -> Duration? { dice.isOne(in: 3) ? nil : .nanoseconds(1 + dice.roll(most)) }
        var timeouts = HTTPTimeouts()
        (timeouts.queue, timeouts.connect, timeouts.firstByte) = (limit(300), limit(200), limit(200))
        (timeouts.stall, timeouts.total) = (limit(200), limit(2000))
        self.timeouts = timeouts
        machine = TransferMachine(timeouts: timeouts, highMark: TransferWorld.Limits.highMark, now: now)
    }

    var description: String { "transfer \(id) to \(host)" }
    var isEnded: Bool { ending != nil }
    /// The transfer has ended, and its reader knows, if it ever had something to read.
    var isOver: Bool { isEnded && (isRead || !hasHead) }

    private func byte(at offset: Int) -> UInt8 { UInt8(truncatingIfNeeded: offset * 7 + Int(id) * 31) }

    func receive(_ count: Int, from pool: SlabPool) {
        let bytes = (sent..<sent + count).map(byte(at:))
        bytes.withUnsafeBytes { mailbox.append($0, expecting: Int64(total - sent), from: pool) }
        sent += count
    }

    func wake(_ waiter: Int?) throws {
        guard let waiter else { return }
        try hold(parked == waiter, "suspension \(waiter) of \(self)'s reader is ended, and it is in \(parked ?? 0)")
        parked = nil
    }

    /// Lets the reader ask once, and says what the engine has to be told.
    func read() throws -> TransferWorld.Message? { isGathered ? try gather() : try take() }

    private func take() throws -> TransferWorld.Message? {
        switch mailbox.take() {
        case .chunk(let chunk, let demand):
            try accept(chunk.bytes)
            return demand ? .demand : nil
        case .end: try finish(whole: true)
        case .failure: try finish(whole: false)
        case .wait: park()
        case .busy: throw Violation("\(self)'s reader is busy with itself")
        }
        return nil
    }

    private func gather() throws -> TransferWorld.Message? {
        if !isGathering {
            isGathering = true
            if mailbox.gather(upTo: 200, expecting: Int64(total)) { return .demand }
        }
        switch mailbox.takeGathered() {
        case .body(.whole(let bytes)):
            try accept(bytes)
            try finish(whole: true)
        case .body(.tooLarge(let received)):
            try hold(received > 200, "\(received) bytes are too many for \(self)'s reader")
            isRead = true
            return mailbox.cancel() ? .cancel : nil
        case .failure: try finish(whole: false)
        case .wait: park()
        case .busy: throw Violation("\(self)'s reader is busy with itself")
        }
        return nil
    }

    private func park() {
        suspensions += 1
        if mailbox.park(suspensions) { parked = suspensions }
    }

    private func accept(_ bytes: [UInt8]) throws {
        for byte in bytes {
            try hold(byte == self.byte(at: taken), "byte \(taken) of \(self) is another one")
            taken += 1
        }
    }

    /// Where memory is short, no more comes before all has been read.
    func checkMayDemand() throws {
        try hold(!isHeldByMemory || mailbox.bytes == 0, "\(self) goes on, and memory is short")
    }

    private func finish(whole: Bool) throws {
        isRead = true
        try hold(ending != nil, "\(self)'s reader hears of an end that is none")
        try hold(!whole || ending == .complete && taken == total, "\(self) is whole for its reader: \(taken) bytes")
        try hold(whole || ending != .complete || mailbox.isCancelled, "\(self) fails for its reader, and is whole")
    }

    func check(now: Int64) throws {
        let limit: Duration? =
            switch machine.phase {
            case .queued: timeouts.queue
            case .gated, .connecting: timeouts.connect
            case .bodyFlowing: isProducerAwaited ? nil : timeouts.stall
            case .awaitingHead, .bodyPaused, .ended: nil
            }
        if let limit {
            let isLimited = machine.deadline ?? .max <= now + limit.nanosecondsRoundedUp
            try hold(isLimited, "\(self) may take longer than \(limit): it is \(machine.phase)")
        }
        let most = max(TransferWorld.Limits.highMark, TransferWorld.Limits.piece)
        try hold(mailbox.bytes <= most, "\(mailbox.bytes) bytes of \(self) wait")
        try hold(!isEnded || parked == nil, "\(self) has ended, and its reader waits")
        try hold(!isEnded || machine.deadline == nil, "\(self) has ended, and has a deadline")
    }

    /// What still happens after the end is ignored.
    func checkNothingMoves(now: Int64) throws {
        let actions = [
            machine.turnCame(now: now), machine.gateOpened(), machine.demanded(now: now), machine.cancelled(),
            machine.timePassed(now: .max), machine.engineFinished(succeeded: true),
        ]
        try hold(actions.allSatisfy { $0 == .none }, "\(self) moves after its end: \(actions)")
        try hold(!machine.headArrived(now: now), "\(self) has ended, and takes a head")
        let intake = machine.bytesArrived(1, buffered: 0, now: now)
        try hold(intake == .refuse, "\(self) has ended, and takes bytes: \(intake)")
    }
}
