// SPDX-License-Identifier: Apache-2.0

/// The state machine of ``LoopSleepers``: who sleeps until when.
struct SleeperTable {
    typealias Continuation = CheckedContinuation<Void, any Error>
    typealias ID = DeadlineTable<Stage>.ID

    /// The stage of a sleeper.
    enum Stage {
        /// It has an id and has not suspended yet.
        case awake
        /// It was cancelled before it suspended.
        case cancelled
        /// It sleeps.
        case asleep(Continuation)
    }

    /// Work to do outside the lock.
    enum Action {
        /// Nothing.
        case none
        /// Set the timer: there is a deadline earlier than the one that it is set to.
        case arm
        /// Resume the sleeper as cancelled.
        case cancel(Continuation)
    }

    private var sleepers = DeadlineTable<Stage>()

    var count: Int { sleepers.count }

    mutating func reserve() -> ID { sleepers.add(.awake) }

    mutating func sleep(_ id: ID, until deadline: Int64, _ continuation: Continuation) -> Action {
        switch sleepers[id] {
        case .awake:
            sleepers[id] = .asleep(continuation)
            return sleepers.schedule(id, at: deadline) ? .arm : .none
        case .cancelled:
            _ = sleepers.remove(id)
            return .cancel(continuation)
        case .asleep, nil: preconditionFailure("a sleeper suspends once, with the id it reserved")
        }
    }

    mutating func cancel(_ id: ID) -> Action {
        switch sleepers[id] {
        case .awake:
            sleepers[id] = .cancelled
            return .none
        case .asleep(let continuation):
            _ = sleepers.remove(id)
            return .cancel(continuation)
        case .cancelled, nil: return .none
        }
    }

    /// Removes sleepers whose deadline has passed, in order of deadline, until `batch` is full. Returns false if there
    /// are no more.
    mutating func wake(at now: Int64, into batch: inout [Continuation], upTo limit: Int) -> Bool {
        while batch.count < limit {
            guard let sleeper = sleepers.popDue(at: now)?.element else {
                // Sleepers that arrive after the loop has ended must ask for the timer again, to learn that there is
                // none.
                _ = sleepers.alarmToSet()
                return false
            }
            if case .asleep(let continuation) = sleeper { batch.append(continuation) }
        }
        return true
    }

    /// Returns the deadline to set the timer to, if anybody sleeps.
    mutating func alarmToSet() -> Int64? { sleepers.alarmToSet() }
}
