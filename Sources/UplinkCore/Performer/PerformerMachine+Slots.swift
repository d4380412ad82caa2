// SPDX-License-Identifier: Apache-2.0

// The limit on concurrent operations. A slot is taken at the grant and given back when the operation, and every
// operation nested in it, has ended.

extension PerformerMachine {
    /// Grants a call that lacks only a slot, or makes it wait for one.
    mutating func grant(_ id: ID, now: Int64, _ actions: inout Actions) {
        if takeSlot(id) {
            decide(id, .granted, &actions)
        } else if let call = calls[id], call.deadline <= now {
            decide(id, .notStarted(timedOut(id)), &actions)
        } else {
            calls[id]?.endGrace()
            setAlarm(of: id, &actions)
        }
    }

    /// Gives a call a slot: its parent's, or a free one. If there is none, the call joins the line.
    mutating func takeSlot(_ id: ID) -> Bool {
        guard let maximumRunning, let call = calls[id] else { return true }
        switch call.slotState {
        case .holding: return true
        case .inLine: return false  // a slot that becomes free goes to the first in line
        case .without: break
        }
        if let parent = call.parent, slots[parent] != nil {
            slots[parent]? += 1
            calls[id]?.slotState = .holding(parent)
        } else if slots.count < maximumRunning {
            calls[id]?.slotState = .holding(slots.append(1))
        } else {
            calls[id]?.slotState = .inLine
            line.insert(deadline: call.arrival, slot: id.slot)
            return false
        }
        return true
    }

    /// Takes a call out of the line for a slot.
    mutating func leaveLine(_ id: ID) {
        guard calls[id]?.isInLine == true else { return }
        calls[id]?.slotState = .without
        line.remove(slot: id.slot)
    }

    /// Gives a call's slot back, and passes it to the first call in line whose time is not over.
    mutating func releaseSlot(_ id: ID, now: Int64, _ actions: inout Actions) {
        guard let maximumRunning, let slot = calls[id]?.slot else { return }
        calls[id]?.slotState = .without
        slots[slot]? -= 1
        if slots[slot] == 0 { slots.remove(slot) }
        while slots.count < maximumRunning, let first = line.first {
            let next = calls.id(inSlot: first.slot)
            // The alarm may be late, for example because every thread was busy with the operation that has just ended.
            if let call = calls[next], call.deadline < now {
                decide(next, .notStarted(timedOut(next)), &actions)
                continue
            }
            leaveLine(next)
            if takeSlot(next) { decide(next, .granted, &actions) }
        }
    }
}
