// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Who sleeps until when: the state machine of ``LoopSleepers``.
struct SleeperTable {
    typealias Continuation = CheckedContinuation<Void, any Error>

    /// A sleeper's place and a number that tells it from the place's earlier and later holders.
    struct ID: Sendable {
        let slot: UInt32
        let serial: UInt32
    }

    /// Where a sleeper stands.
    private enum Stage {
        /// Nobody holds the place.
        case free
        /// The sleeper has an id and has not suspended yet.
        case reserved
        /// It was cancelled before it suspended.
        case cancelled
        /// It sleeps.
        case asleep(Continuation)
    }

    /// What is to be done outside the lock.
    enum Action {
        /// Nothing.
        case none
        /// Set the timer: there is an earlier deadline than the one it is set to.
        case arm
        /// Resume the sleeper as cancelled. When it was the last one, disarm the timer.
        case cancel(Continuation, isLast: Bool)
    }

    private var places: [(stage: Stage, serial: UInt32)] = []
    private var freeSlots: [UInt32] = []
    private var deadlines = DeadlineHeap()
    /// What the timer is set to, or will be when the loop comes to it.
    private var armed: Int64 = .max

    var isEmpty: Bool { deadlines.isEmpty }

    mutating func reserve() -> ID {
        if let slot = freeSlots.popLast() {
            places[Int(slot)].stage = .reserved
            return ID(slot: slot, serial: places[Int(slot)].serial)
        }
        places.append((.reserved, 0))
        return ID(slot: UInt32(places.count - 1), serial: 0)
    }

    mutating func sleep(_ id: ID, until deadline: Int64, _ continuation: Continuation) -> Action {
        switch places[Int(id.slot)].stage {
        case .cancelled:
            free(id.slot)
            return .cancel(continuation, isLast: false)
        case .reserved:
            places[Int(id.slot)].stage = .asleep(continuation)
            deadlines.insert(deadline: deadline, slot: id.slot)
            guard deadline < armed else { return .none }
            armed = deadline
            return .arm
        case .free, .asleep: preconditionFailure("a sleeper suspends once, with the id it reserved")
        }
    }

    mutating func cancel(_ id: ID) -> Action {
        guard places[Int(id.slot)].serial == id.serial else { return .none }
        switch places[Int(id.slot)].stage {
        case .reserved:
            places[Int(id.slot)].stage = .cancelled
            return .none
        case .asleep(let continuation):
            deadlines.remove(slot: id.slot)
            free(id.slot)
            return .cancel(continuation, isLast: deadlines.isEmpty)
        case .free, .cancelled: return .none
        }
    }

    /// Takes out everybody whose deadline has passed. The timer has fired: it is set to nothing now.
    mutating func wake(at now: Int64) -> [Continuation] {
        armed = .max
        var woken: [Continuation] = []
        while let entry = deadlines.popDue(at: now) {
            if case .asleep(let continuation) = places[Int(entry.slot)].stage { woken.append(continuation) }
            free(entry.slot)
        }
        return woken
    }

    /// The deadline that the timer is to be set to, if anybody sleeps.
    mutating func deadlineToArm() -> Int64? {
        armed = deadlines.first?.deadline ?? .max
        return deadlines.first?.deadline
    }

    mutating func removeAll() -> [Continuation] { wake(at: .max) }

    private mutating func free(_ slot: UInt32) {
        places[Int(slot)].stage = .free
        places[Int(slot)].serial &+= 1
        freeSlots.append(slot)
    }
}
