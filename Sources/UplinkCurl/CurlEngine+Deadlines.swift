// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// The deadlines of transfers: one timer for all of them.
extension CurlEngine {
    /// How late a timer may be on a machine that is merely busy.
    private static var lateness: Int64 { 10_000_000 }

    /// Puts a transfer's deadline into the heap. An entry whose deadline has moved to later stays, and is checked when
    /// it is due.
    func arm(_ transfer: CurlTransfer) {
        guard let deadline = transfer.machine.deadline, deadline < transfer.armedDeadline ?? .max else { return }
        deadlines.remove(slot: transfer.slot)
        deadlines.insert(deadline: deadline, slot: transfer.slot)
        transfer.armedDeadline = deadline
    }

    /// Sets the timer for the nearest deadline. If it is set for an earlier time it stays so, and the next deadline is
    /// looked for when it fires.
    func setDeadlineTimer() {
        guard let due = deadlines.first?.deadline, let timers, due < timers.deadline ?? .max else { return }
        timers.deadline = due
        timers.deadlines.start(afterNanoseconds: due - Monotonic.now)
    }

    func deadlinesPassed() {
        let now = Monotonic.now
        guard let timers, !looksAtSocketsFirst(timers, now: now) else { return }
        timers.deadline = nil
        while let entry = deadlines.popDue(at: now) {
            guard let transfer = transfers[slot: entry.slot] else { continue }
            transfer.armedDeadline = nil
            let sending = transfer.sendingProgress
            if sending?.isWhole == true { transfer.forgetUploadIfWhole() }
            perform(transfer.machine.timePassed(now: now, sending: sending), on: transfer)
            active.note(transfer)
        }
        scheduleTurn()
    }

    /// Whether the deadlines have to wait until the loop has looked at its sockets: if the loop was held up or the
    /// process was stopped, data that came in time may be there unread. libuv handles timers first.
    private func looksAtSocketsFirst(_ timers: Timers, now: Int64) -> Bool {
        switch timers.lateness {
        case .none:
            guard let due = timers.deadline, now - due > Self.lateness else { return false }
            timers.lateness = .handlesTimers
            scheduleTurn()  // which ends immediately before the loop looks
        case .handlesTimers: break
        case .looksAtSockets:
            timers.lateness = .none
            return false
        }
        timers.deadline = now
        timers.deadlines.start(afterNanoseconds: 0)
        return true
    }

    /// Notes that the loop looks at its sockets next.
    func loopLooksAtSockets() {
        guard let timers, timers.lateness == .handlesTimers else { return }
        timers.lateness = .looksAtSockets
    }
}
