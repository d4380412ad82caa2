// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkEventLoop
import UplinkHTTP

/// When transfers take too long: one timer for all of them.
extension CurlEngine {
    /// Puts a transfer's deadline into the heap. One that has moved away stays: it is looked at when it is due.
    func arm(_ transfer: CurlTransfer) {
        guard let deadline = transfer.machine.deadline, deadline < transfer.armedDeadline ?? .max else { return }
        deadlines.remove(slot: transfer.deadlineSlot)
        deadlines.insert(deadline: deadline, slot: transfer.deadlineSlot)
        transfer.armedDeadline = deadline
    }

    func setDeadlineTimer() {
        let due = deadlines.first?.deadline
        guard let timers, timers.deadline != due else { return }
        timers.deadline = due
        guard let due else { return timers.deadlines.stop() }
        timers.deadlines.start(after: .nanoseconds(max(0, due - Monotonic.now)))
    }

    func deadlinesPassed() {
        timers?.deadline = nil
        let now = Monotonic.now
        while let entry = deadlines.popDue(at: now) {
            guard let transfer = transfers[slotOwners[Int(entry.slot)]] else { continue }
            transfer.armedDeadline = nil
            perform(transfer.machine.timePassed(now: now), on: transfer)
            active.note(transfer)
        }
        scheduleTurn()
    }
}
