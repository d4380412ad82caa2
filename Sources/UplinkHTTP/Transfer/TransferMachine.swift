// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// One transfer's way from the queue to its end: pure; time is given, and what is to be done is returned.
///
/// Times are nanoseconds on the owner's monotonic clock.
package struct TransferMachine: Sendable {
    /// Where the transfer stands.
    package enum Phase: Sendable, Equatable {
        /// It waits for its turn.
        case queued
        /// It has its turn, and waits for another transfer that resolves the same host.
        case gated
        /// It resolves, connects, negotiates TLS. Nothing of the request has been sent.
        case connecting
        /// The request goes out, with its body, and the final head is awaited.
        case awaitingHead
        /// The head is there, the body arrives.
        case bodyFlowing
        /// The body is held up because its reader is slower than the network.
        case bodyPaused
        /// It is over. Whatever still happens is ignored.
        case ended
    }

    /// Whose limit was reached.
    package enum Timeout: Sendable, Equatable { case queue, connect, firstByte, stall, total }

    /// How a transfer ends.
    package enum Ending: Sendable, Equatable {
        /// The body is whole, as far as the engine can tell.
        case complete
        /// The engine reports an error.
        case failed
        /// Its owner wants it no more.
        case cancelled
        /// It took too long.
        case timedOut(Timeout)
    }

    /// What is to be done.
    package enum Action: Sendable, Equatable {
        /// Nothing.
        case none
        /// Ask the gate; then ``gateOpened()``.
        case enterGate
        /// Hand the transfer to the engine.
        case start
        /// Give the head to whoever waits for it.
        case deliverHead
        /// Keep the bytes.
        case keep
        /// Do not keep the bytes; hold the transfer up.
        case pause
        /// Let the transfer go on.
        case resume
        /// Take the transfer from the engine and tell its owner. Returned once.
        case end(Ending)
    }

    package private(set) var phase = Phase.queued
    /// Where the transfer stood when it ended; for the error.
    package private(set) var lastPhase = Phase.queued
    /// Whether the request's body is on its way, so that the head is not awaited yet.
    private var isSending = false
    /// Whether its producer holds it up: then the answer's body has no stall timeout either, since it may wait for more.
    private var isProducerAwaited = false
    /// When the request's body moved last, as far as is known, and how much of it the peer had acknowledged then.
    private var moved: (at: Int64, acknowledged: UInt64)?
    /// Nanoseconds that a phase may take; reckoned once, since every piece of a body moves a deadline.
    private let connectLimit, firstByteLimit, stallLimit: Int64?
    private let highMark: Int
    private var phaseDeadline: Int64?
    private var totalDeadline: Int64?

    package init(timeouts: HTTPTimeouts, highMark: Int, now: Int64) {
        connectLimit = timeouts.connect?.nanosecondsRoundedUp
        firstByteLimit = timeouts.firstByte?.nanosecondsRoundedUp
        stallLimit = timeouts.stall?.nanosecondsRoundedUp
        self.highMark = highMark
        phaseDeadline = Self.deadline(timeouts.queue?.nanosecondsRoundedUp, from: now)
        totalDeadline = Self.deadline(timeouts.total?.nanosecondsRoundedUp, from: now)
    }

    /// When to call ``timePassed(now:)``, if ever.
    package var deadline: Int64? {
        guard let phaseDeadline else { return totalDeadline }
        return min(phaseDeadline, totalDeadline ?? .max)
    }

    /// The limits let another transfer run, and it is this one.
    package mutating func turnCame(now: Int64) -> Action {
        switch phase {
        case .queued:
            enter(.gated, limit: connectLimit, now: now)
            return .enterGate
        case .gated, .connecting, .awaitingHead, .bodyFlowing, .bodyPaused, .ended: return .none
        }
    }

    /// Nobody else resolves the host, or somebody has.
    package mutating func gateOpened() -> Action {
        switch phase {
        case .gated:
            phase = .connecting  // the connect timeout goes on
            return .start
        case .queued, .connecting, .awaitingHead, .bodyFlowing, .bodyPaused, .ended: return .none
        }
    }

    /// The connection stands, and the request is about to be sent. Twice when a connection used again proves dead.
    package mutating func requestGoesOut(now: Int64) {
        switch phase {
        case .connecting: enter(.awaitingHead, limit: firstByteLimit, now: now)
        case .queued, .gated, .awaitingHead, .bodyFlowing, .bodyPaused, .ended: break
        }
    }

    /// Bytes of the request's body go out: until they are all gone the stall timeout holds.
    package mutating func bodyIsSent(now: Int64) {
        isProducerAwaited = false
        switch phase {
        case .awaitingHead:
            isSending = true
            watch(limit: stallLimit, now: now)
        case .bodyFlowing: enter(phase, limit: stallLimit, now: now)
        case .queued, .gated, .connecting, .bodyPaused, .ended: break
        }
    }

    /// The producer of the request's body has nothing yet: it is not the network that holds the transfer up.
    package mutating func bodyIsAwaited() {
        switch phase {
        case .awaitingHead, .bodyFlowing, .bodyPaused: (phaseDeadline, isProducerAwaited) = (nil, true)
        case .queued, .gated, .connecting, .ended: break
        }
    }

    /// The last byte of the request's body has gone out.
    package mutating func bodyWasSent(now: Int64) {
        isProducerAwaited = false
        switch phase {
        case .awaitingHead:
            isSending = false
            watch(limit: firstByteLimit, now: now)
        case .bodyFlowing: enter(phase, limit: stallLimit, now: now)
        case .queued, .gated, .connecting, .bodyPaused, .ended: break
        }
    }

    /// The final head is complete.
    package mutating func headArrived(now: Int64) -> Action {
        switch phase {
        case .connecting, .awaitingHead:
            flow(now: now)
            return .deliverHead
        case .queued, .gated, .bodyFlowing, .bodyPaused, .ended: return .none
        }
    }

    /// Bytes of the body are offered while `buffered` are held already. When memory is short, one piece is enough.
    ///
    /// - Parameter next: How many come behind these at once, if these are kept. Where they would have to be held up, these
    ///   are already: better before they have been read than halfway through them. A small high mark has no room for that.
    package mutating func bytesArrived(
        _ count: Int, buffered: Int, next: Int = 0, isMemoryShort: Bool = false, now: Int64
    ) -> Action {
        switch phase {
        case .bodyFlowing:
            let coming = next <= highMark / 2 ? count + next : count
            guard buffered == 0 || (!isMemoryShort && buffered + coming <= highMark) else {
                enter(.bodyPaused, limit: nil, now: now)
                return .pause
            }
            flow(now: now)
            return .keep
        case .bodyPaused: return .pause
        case .queued, .gated, .connecting, .awaitingHead, .ended: return .none
        }
    }

    /// How few bytes may be held when a transfer that was paused goes on: with more, what it was paused for might find no
    /// room again, and it would go on and be paused for ever.
    ///
    /// - Parameter piece: The most bytes that are offered at once.
    package static func lowMark(below highMark: Int, piece: Int) -> Int {
        max(0, min(highMark / 4, highMark - highMark / 2 - piece))
    }

    /// The reader has read enough to go on.
    package mutating func demanded(now: Int64) -> Action {
        switch phase {
        case .bodyPaused:
            flow(now: now)
            return .resume
        case .queued, .gated, .connecting, .awaitingHead, .bodyFlowing, .ended: return .none
        }
    }

    /// The reader sets a limit to all that is still to come; an earlier one stays.
    package mutating func limit(toRemaining total: Duration, now: Int64) {
        totalDeadline = min(
            totalDeadline ?? .max, Self.deadline(total.nanosecondsRoundedUp, from: now) ?? .max)
    }

    /// The engine is done with the transfer.
    package mutating func engineFinished(succeeded: Bool) -> Action { end(succeeded ? .complete : .failed) }

    /// The owner cancels.
    package mutating func cancelled() -> Action { end(.cancelled) }

    /// Time has passed; perhaps not enough, because deadlines move.
    ///
    /// - Parameter sending: How far the peer has what was sent, where a request has a body and that is known. The engine
    ///   takes a body in large pieces and sends them in its own time: on a slow network it moves though no more is asked for.
    package mutating func timePassed(now: Int64, sending: SendingProgress? = nil) -> Action {
        if let totalDeadline, totalDeadline <= now { return end(.timedOut(.total)) }
        guard let phaseDeadline, phaseDeadline <= now else { return .none }
        if case .awaitingHead = phase, goesOn(sending, now: now) { return .none }
        switch phase {
        case .queued: return end(.timedOut(.queue))
        case .gated, .connecting: return end(.timedOut(.connect))
        case .awaitingHead: return end(.timedOut(isSending ? .stall : .firstByte))
        case .bodyFlowing: return end(.timedOut(.stall))
        case .bodyPaused, .ended: return .none
        }
    }

    /// Whether a body that is on its way has more time. Looks at it four times in a limit, so that what moves no more is
    /// noticed not much later than at the limit.
    private mutating func goesOn(_ sending: SendingProgress?, now: Int64) -> Bool {
        guard let moved, let limit = isSending ? stallLimit : firstByteLimit else { return false }
        // When the last byte has arrived, the answer is awaited, however long ago it was sent.
        let progress = sending.map { isSending || !$0.isWhole ? $0.acknowledged : moved.acknowledged }
        if let progress, progress != moved.acknowledged { self.moved = (now, progress) }
        guard let due = Self.deadline(limit, from: self.moved?.at ?? now), due > now else { return false }
        phaseDeadline = min(due, Self.deadline(limit / 4, from: now) ?? .max)
        return true
    }

    private mutating func watch(limit: Int64?, now: Int64) {
        moved = (now, moved?.acknowledged ?? 0)
        phaseDeadline = Self.deadline(limit.map { $0 / 4 }, from: now)
    }

    private mutating func end(_ ending: Ending) -> Action {
        switch phase {
        case .queued, .gated, .connecting, .awaitingHead, .bodyFlowing, .bodyPaused:
            (lastPhase, phase) = (phase, .ended)
            (phaseDeadline, totalDeadline) = (nil, nil)
            return .end(ending)
        case .ended: return .none
        }
    }

    private mutating func flow(now: Int64) {
        enter(.bodyFlowing, limit: isProducerAwaited ? nil : stallLimit, now: now)
    }

    private mutating func enter(_ phase: Phase, limit: Int64?, now: Int64) {
        self.phase = phase
        phaseDeadline = Self.deadline(limit, from: now)
    }

    private static func deadline(_ limit: Int64?, from now: Int64) -> Int64? {
        guard let limit else { return nil }
        let (deadline, overflow) = now.addingReportingOverflow(limit)
        return overflow ? nil : deadline
    }
}

/// How much of what was sent the peer has.
package struct SendingProgress: Sendable {
    /// Bytes that it has acknowledged, on this connection.
    package let acknowledged: UInt64
    /// Whether nothing is left to be acknowledged.
    package let isWhole: Bool

    package init(acknowledged: UInt64, isWhole: Bool) { (self.acknowledged, self.isWhole) = (acknowledged, isWhole) }
}
