// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// One transfer, from the queue to its end: pure; time is given, and actions are returned.
///
/// Times are nanoseconds on the owner's monotonic clock.
package struct TransferMachine: Sendable {
    /// The state of the transfer.
    package enum Phase: Sendable, Equatable {
        /// It waits in the queue.
        case queued
        /// It has its turn, and waits for another transfer that is resolving the same host and port.
        case gated
        /// It is resolving, connecting or negotiating TLS. Nothing of the request has been sent.
        case connecting
        /// The request is going out, with its body, and the final head is awaited.
        case awaitingHead
        /// The head has arrived, and the body is arriving.
        case bodyFlowing
        /// The body is paused because its reader is slower than the network.
        case bodyPaused
        /// It is over. Anything that still happens is ignored.
        case ended
    }

    /// What the request's body is doing.
    private enum Upload: Sendable {
        /// None of it has gone out yet, all of it has, or there is none: the head is awaited.
        case idle
        /// It goes out: the head is not awaited yet.
        case sending
        /// Its producer has nothing yet. The response's body then has no stall timeout either, since the server may be
        /// waiting for more.
        case awaited
    }

    /// The limit that was reached.
    package enum Timeout: Sendable, Equatable { case queue, connect, firstByte, stall, total }

    /// How a transfer ends.
    package enum Ending: Sendable, Equatable {
        /// The body is complete, as far as the engine can tell.
        case complete
        /// The engine reports an error.
        case failed
        /// Its owner no longer wants it.
        case cancelled
        /// It took too long.
        case timedOut(Timeout)
    }

    /// What to do.
    package enum Action: Sendable, Equatable {
        /// Nothing.
        case none
        /// Enter the gate; then ``gateOpened()``.
        case enterGate
        /// Hand the transfer to the engine.
        case start
        /// Resume the transfer.
        case resume
        /// Take the transfer from the engine and tell its owner. Returned once.
        case end(Ending)
    }

    /// What to do with offered bytes of the body.
    package enum Intake: Sendable, Equatable {
        /// Keep them.
        case keep
        /// Do not keep them, and pause the transfer; they will be offered again.
        case pause
        /// Do not keep them: no body is expected (any more).
        case refuse
    }

    package private(set) var phase = Phase.queued
    /// The phase in which the transfer ended; for the error.
    package private(set) var lastPhase = Phase.queued
    private var upload = Upload.idle
    /// Whether the answer is one that does not wait for the rest of the request.
    private var isRefused = false
    /// When a body last made progress, as far as is known, and how much of the request's the peer had acknowledged
    /// then; nil if the request has none.
    private var moved: (at: Int64, acknowledged: UInt64)?
    /// The nanoseconds that a phase may take; computed once, since every piece of a body moves a deadline.
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

    /// The limits allow another transfer to run, and it is this one.
    package mutating func turnCame(now: Int64) -> Action {
        switch phase {
        case .queued:
            enter(.gated, limit: connectLimit, now: now)
            return .enterGate
        case .gated, .connecting, .awaitingHead, .bodyFlowing, .bodyPaused, .ended: return .none
        }
    }

    /// Nobody else is resolving the host, or it has been resolved.
    package mutating func gateOpened() -> Action {
        switch phase {
        case .gated:
            phase = .connecting  // the connect timeout keeps running
            return .start
        case .queued, .connecting, .awaitingHead, .bodyFlowing, .bodyPaused, .ended: return .none
        }
    }

    /// The connection is established, and the request is about to be sent. Happens twice when a reused connection
    /// proves to be dead.
    ///
    /// - Parameter heldBack: For how many nanoseconds its body may wait for the server's consent.
    package mutating func requestGoesOut(heldBack: Int64 = 0, now: Int64) {
        switch phase {
        case .connecting:
            enter(.awaitingHead, limit: firstByteLimit.map { min($0, .max - heldBack) + heldBack }, now: now)
        case .queued, .gated, .awaitingHead, .bodyFlowing, .bodyPaused, .ended: break
        }
    }

    /// Bytes of the request's body go out: the stall timeout applies until all of them are gone.
    package mutating func bodyIsSent(now: Int64) {
        uploadIs(.sending, limit: stallLimit, now: now)
    }

    /// The producer of the request's body has nothing yet: the network is not what delays the transfer.
    package mutating func bodyIsAwaited() {
        switch phase {
        case .bodyFlowing where isRefused: break
        case .awaitingHead, .bodyFlowing, .bodyPaused: (phaseDeadline, upload) = (nil, .awaited)
        case .queued, .gated, .connecting, .ended: break
        }
    }

    /// The last byte of the request's body has gone out.
    package mutating func bodyWasSent(now: Int64) { uploadIs(.idle, limit: firstByteLimit, now: now) }

    /// Gives the upload new time: this limit while the head is awaited, and the stall timeout after it.
    private mutating func uploadIs(_ upload: Upload, limit: Int64?, now: Int64) {
        switch phase {
        case .awaitingHead:
            self.upload = upload
            moved = (now, moved?.acknowledged ?? 0)
            phaseDeadline = Self.deadline(limit.map(Self.quarter), from: now)
        case .bodyFlowing:
            self.upload = upload
            moved = moved ?? (now, 0)
            flow(now: now)
        case .bodyPaused: self.upload = upload
        case .queued, .gated, .connecting, .ended: break
        }
    }

    /// The network has changed. A transfer without a connection begins again, within the same limit.
    package mutating func networkChanged() -> Action {
        switch phase {
        case .connecting:
            phase = .gated
            return .enterGate
        case .queued, .gated, .awaitingHead, .bodyFlowing, .bodyPaused, .ended: return .none
        }
    }

    /// The final head is complete. Returns whether it was awaited, and so is to be delivered.
    ///
    /// - Parameter isRefusal: Whether the server, if it has not read all of the request, does not want the rest.
    package mutating func headArrived(isRefusal: Bool = false, now: Int64) -> Bool {
        switch phase {
        case .connecting, .awaitingHead:
            isRefused = isRefusal
            flow(now: now)
            return true
        case .queued, .gated, .bodyFlowing, .bodyPaused, .ended: return false
        }
    }

    /// Bytes of the body are offered while `buffered` bytes are already held. When memory is short, one piece is
    /// enough.
    ///
    /// - Parameter next: How many bytes follow immediately if these are kept. If those would have to be paused, these
    ///   already are: it is better to pause before they have been read than halfway through them. A small high mark has
    ///   no room for this.
    package mutating func bytesArrived(
        _ count: Int, buffered: Int, next: Int = 0, isMemoryShort: Bool = false, now: Int64
    ) -> Intake {
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
        case .queued, .gated, .connecting, .awaitingHead, .ended: return .refuse
        }
    }

    /// The most bytes that may be held when a paused transfer resumes. With more, the piece it was paused for might
    /// again find no room, and it would resume and pause forever.
    ///
    /// - Parameter piece: The most bytes that are offered together.
    package static func lowMark(below highMark: Int, piece: Int) -> Int {
        max(0, min(highMark / 4, highMark - highMark / 2 - piece))
    }

    /// The reader has read enough for the transfer to resume.
    package mutating func demanded(now: Int64) -> Action {
        switch phase {
        case .bodyPaused:
            flow(now: now)
            return .resume
        case .queued, .gated, .connecting, .awaitingHead, .bodyFlowing, .ended: return .none
        }
    }

    /// The reader limits the time for all that is still to come; an earlier limit stays.
    package mutating func limit(toRemaining total: Duration, now: Int64) {
        totalDeadline = min(
            totalDeadline ?? .max, Self.deadline(total.nanosecondsRoundedUp, from: now) ?? .max)
    }

    /// The engine is done with the transfer.
    package mutating func engineFinished(succeeded: Bool) -> Action { end(succeeded ? .complete : .failed) }

    /// The owner cancels.
    package mutating func cancelled() -> Action { end(.cancelled) }

    /// Time has passed, but perhaps not enough, because deadlines move.
    ///
    /// - Parameter sending: How much of the sent bytes the peer has acknowledged, if the request has a body and that is
    ///   known. The engine takes a body in large pieces and sends them in its own time: on a slow network a body makes
    ///   progress although the engine asks for no more.
    package mutating func timePassed(now: Int64, sending: SendingProgress? = nil) -> Action {
        if let totalDeadline, totalDeadline <= now { return end(.timedOut(.total)) }
        guard let phaseDeadline, phaseDeadline <= now else { return .none }
        switch phase {
        case .queued: return end(.timedOut(.queue))
        case .gated, .connecting: return end(.timedOut(.connect))
        case .awaitingHead:
            let isSending = upload == .sending
            if goesOn(sending, limit: isSending ? stallLimit : firstByteLimit, now: now) { return .none }
            return end(.timedOut(upload == .idle ? .firstByte : .stall))
        case .bodyFlowing:
            return goesOn(sending, limit: stallLimit, now: now) ? .none : end(.timedOut(.stall))
        case .bodyPaused, .ended: return .none
        }
    }

    /// Whether a body that is being sent has more time. Checks progress four times within a limit, so that a stalled
    /// body is noticed not much later than at the limit.
    private mutating func goesOn(_ sending: SendingProgress?, limit: Int64?, now: Int64) -> Bool {
        guard let moved, let limit else { return false }
        // Once the last byte has arrived, the response is awaited, however long ago the byte was sent.
        let progress = sending.map { upload == .sending || !$0.isWhole ? $0.acknowledged : moved.acknowledged }
        if let progress, progress != moved.acknowledged { self.moved = (now, progress) }
        guard let due = Self.deadline(limit, from: self.moved?.at ?? now), due > now else { return false }
        phaseDeadline = min(due, Self.deadline(Self.quarter(limit), from: now) ?? .max)
        return true
    }

    private static func quarter(_ limit: Int64) -> Int64 { max(1, limit / 4) }

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
        guard upload != .awaited || isRefused else { return enter(.bodyFlowing, limit: nil, now: now) }
        moved?.at = now
        enter(.bodyFlowing, limit: moved == nil ? stallLimit : stallLimit.map(Self.quarter), now: now)
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
