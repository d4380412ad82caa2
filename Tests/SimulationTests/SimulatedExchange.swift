// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkHTTP

@testable import Uplink

/// A request under way in an ``OutageWorld``: an engine and a server that are models around `TransferMachine`, and the
/// real `Mailbox`, whose reader is a task.
final class SimulatedExchange: @unchecked Sendable {  // one thread runs all jobs of its world
    private struct Broken: NetworkFailure { let isNetworkFailure = true }

    /// What the reader has said, and the engine does not know yet.
    private final class Wishes: MailboxSupplier, @unchecked Sendable {  // as its exchange
        var (isDemanded, isStopped) = (false, false)

        func demand(for id: UInt64) { isDemanded = true }

        func stop(_ id: UInt64) { isStopped = true }

        var isOnFillingThread: Bool { true }
    }

    private let answer: SimulatedServer.Answer
    private var machine: TransferMachine
    private let wishes = Wishes()
    private let mailbox: Mailbox
    private let pool = SlabPool(keeping: 1)
    private var waiter: CheckedContinuation<Void, Never>?
    private var isCancelled = false
    private var hasHead = false
    private var arrived = 0
    /// What must not be.
    private(set) var fault: String?

    init(_ answer: SimulatedServer.Answer, now: Duration) {
        self.answer = answer
        mailbox = Mailbox(1, of: wishes, lowMark: 4)
        var timeouts = HTTPTimeouts()
        (timeouts.connect, timeouts.firstByte, timeouts.stall) = (.seconds(3), .seconds(3), .seconds(3))
        machine = TransferMachine(timeouts: timeouts, highMark: 12, now: now.nanosecondsRoundedDown)
        _ = machine.turnCame(now: now.nanosecondsRoundedDown)
        _ = machine.gateOpened()
    }

    // MARK: The reader

    func head() async throws -> SimulatedServer.Answer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if hasHead || machine.phase == .ended { continuation.resume() } else { waiter = continuation }
            }
        } onCancel: {
            self.wishes.isStopped = true
        }
        if hasHead { return answer }
        if isCancelled { throw CancellationError() }
        throw Broken()
    }

    func next() async throws -> HTTPBody.Chunk? {
        try await mailbox.next()
    }

    /// The reader wants no more.
    func leave() { mailbox.cancel() }

    // MARK: The engine

    func goOn(_ dice: Dice, now: Duration) throws {
        let now = now.nanosecondsRoundedDown
        if wishes.isStopped {
            wishes.isStopped = false
            isCancelled = true
            return try act(machine.cancelled())
        }
        if wishes.isDemanded {
            wishes.isDemanded = false
            return try act(machine.demanded(now: now))
        }
        switch machine.phase {
        case .queued, .gated, .bodyPaused, .ended: break
        case .connecting: machine.requestGoesOut(now: now)
        case .awaitingHead:
            hasHead = machine.headArrived(now: now)
            wake()
        case .bodyFlowing: try serve(dice, now)
        }
    }

    func timePassed(now: Duration) throws { try act(machine.timePassed(now: now.nanosecondsRoundedDown)) }

    private func serve(_ dice: Dice, _ now: Int64) throws {
        if let breaks = answer.breaksAfter, arrived >= breaks {
            return try act(machine.engineFinished(succeeded: !answer.head.isFramed))
        }
        let left = min(answer.body.count + answer.excess, answer.breaksAfter ?? .max) - arrived
        if left == 0 { return try act(machine.engineFinished(succeeded: true)) }
        let count = min(1 + dice.roll(20), left)
        switch machine.bytesArrived(count, buffered: mailbox.bytes, now: now) {
        case .keep:
            let start = answer.body.lowerBound + arrived
            let bytes = (start..<start + count).map { SimulatedServer.byte($0, of: answer.version) }
            bytes.withUnsafeBytes { mailbox.append($0, expecting: nil, from: pool) }
            arrived += count
        case .pause: break  // they are offered again
        case .refuse: throw Violation("bytes are refused")
        }
        publish()
    }

    private func act(_ action: TransferMachine.Action) throws {
        switch action {
        case .none, .resume: break  // the engine offers the bytes again
        case .end(let ending):
            publish()
            let error: (any Error)? =
                switch ending {
                case .complete: nil
                case .cancelled: CancellationError()
                case .failed, .timedOut: Broken()
                }
            mailbox.finish(throwing: error)?.resume()
            wake()
        case .enterGate, .start: throw Violation("\(action) out of turn")
        }
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }

    private func publish() {
        let (resumption, demand, _) = mailbox.flush(isPaused: machine.phase == .bodyPaused)
        resumption?.resume()
        if demand { wishes.isDemanded = true }
        if mailbox.bytes > 20 { fault = "\(mailbox.bytes) bytes wait for the reader" }
    }
}
