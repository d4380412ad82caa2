// SPDX-License-Identifier: Apache-2.0

// The stages of a call: `enter`, `suspend`, `begin`, `finish`, and `run` for an operation in a task of its own.

extension PerformerMachine {
    /// Gives a call its place. Until the path is known, its deadline is `graceEnd` at the earliest.
    mutating func enter(
        requirement: NetworkRequirement, deadline: Int64, graceEnd: Int64, isSupervised: Bool,
        watchesLoss: Bool = false, notBefore: Int64 = .min, parent: Slot? = nil
    ) -> ID {
        arrivals += 1
        let firstPathDeadline = max(deadline, graceEnd)
        let id = calls.append(
            Call(
                requirement: requirement, deadline: deadline, arrival: arrivals, notBefore: notBefore,
                isSupervised: isSupervised, watchesLoss: watchesLoss, firstPathDeadline: firstPathDeadline,
                stage: .entered, parent: parent))
        waitingCount += 1
        if deadline != .max { deadlines.insert(deadline: firstPathDeadline, slot: id.slot) }
        return id
    }

    /// Suspends the call, unless its verdict is already there. From here on the monitor is watched.
    mutating func suspend(_ id: ID, _ continuation: Continuation) -> Actions {
        var actions = Actions()
        switch calls[id]?.stage {
        case .entered:
            calls[id]?.stage = .waiting(continuation)
            if !subscription.isActive { actions.subscribe = subscription.start() }
            armForFirst(&actions)
        case .decided: actions.resumptions.append(continuation)
        case .waiting, .running, .overdue, .lost, .abandoned, nil:
            preconditionFailure("a call suspends once after it entered, and once after each `wait`")
        }
        return actions
    }

    /// Returns what a call that is not waiting, or no longer, has to do.
    func standing(of id: ID) -> Standing {
        guard let call = calls[id] else { preconditionFailure("a call stays in its place until it begins") }
        switch call.stage {
        case .entered: return .undecided(call.requirement)
        case .decided(.granted): return .granted(call.requirement)
        case .decided(.notStarted): return .denied
        case .waiting, .running, .overdue, .lost, .abandoned:
            preconditionFailure("a call asks before it begins, and not while it waits")
        }
    }

    /// Decides whether the operation may run now. This is the final decision.
    ///
    /// - Parameters:
    ///   - look: Whether the newest path meets the requirement; nil when there is no path because the monitor has
    ///     paused or stopped.
    ///   - graceEnd: How long a call waits for a monitor that has no path.
    mutating func begin(
        _ id: ID, look: Look?, isCancelled: Bool, now: Int64, graceEnd: Int64
    ) -> (Start, Actions) {
        var actions = Actions()
        guard let call = calls[id] else { preconditionFailure("a call begins with the place it entered") }
        switch call.stage {
        case .entered, .decided(.granted): break
        case .decided(.notStarted(let error)):
            leave(id, error, now: now, &actions)
            return (.notStarted(error), actions)
        case .waiting, .running, .overdue, .lost, .abandoned:
            preconditionFailure("a call begins once, and not while it waits")
        }
        if isCancelled {
            leave(id, .cancelled, now: now, &actions)
            return (.notStarted(.cancelled), actions)
        }
        if let look, let newest = lastPath?.generation, look.generation < newest { return (.superseded, actions) }
        let isReady = note(id, look, now: now)
        if isReady, !call.hasLooked || isInTime(id), takeSlot(id) {
            start(id, &actions)
            return (.started(calls[id]?.slot), actions)
        }
        releaseSlot(id, now: now, &actions)
        if look != nil, call.deadline <= now {
            let error = timedOut(id)
            leave(id, error, now: now, &actions)
            return (.notStarted(error), actions)
        }
        let wasGranted = if case .decided = call.stage { true } else { false }
        calls[id]?.stage = .entered
        calls[id]?.firstPathDeadline = look == nil ? max(call.deadline, graceEnd) : call.deadline
        setAlarm(of: id, &actions)
        return (wasGranted ? .lookAgain : .wait, actions)
    }

    private mutating func start(_ id: ID, _ actions: inout Actions) {
        calls[id]?.stage = .running(cancel: nil)
        calls[id]?.steadySince = nil
        calls[id]?.endGrace()
        waitingCount -= 1
        totals.granted += 1
        if calls[id]?.watchesLoss == true {
            watchingCount += 1
            if !subscription.isActive { actions.subscribe = subscription.start() }
        }
        setAlarm(of: id, &actions)
        retireIfIdle(&actions)
    }

    /// Whether a call that is ready became so in time. (A call that has not looked before sees the state at the time of
    /// the call.)
    private func isInTime(_ id: ID) -> Bool {
        guard let call = calls[id], case .entered = call.stage else { return true }
        return call.steadyFrom.map { $0 <= call.firstPathDeadline } ?? false
    }

    /// There was no path at the time of the call: what it sees later is not the state at that time.
    mutating func hadNoPath(_ id: ID) { calls[id]?.hasLooked = true }

    /// Stores how to cancel an operation that has begun.
    mutating func run(_ id: ID, cancel: @escaping @Sendable () -> Void) -> Actions {
        var actions = Actions()
        switch calls[id]?.stage {
        case .running: calls[id]?.stage = .running(cancel: cancel)
        case .overdue, .lost, .abandoned: actions.cancellations.append(cancel)
        case nil: break  // it has ended already
        case .entered, .waiting, .decided: preconditionFailure("an operation runs after it has begun")
        }
        return actions
    }

    /// Ends a call whose operation has ended, and returns what had cancelled it.
    mutating func finish(_ id: ID, now: Int64) -> (Ending, Actions) {
        var actions = Actions()
        let ending: Ending =
            switch calls[id]?.stage {
            case .overdue: .overdue
            case .lost: .lost
            case .entered, .waiting, .decided, .running, .abandoned, nil: .undisturbed
            }
        releaseSlot(id, now: now, &actions)
        if calls[id]?.watchesLoss == true { watchingCount -= 1 }
        actions.released = calls.remove(id)?.requirement
        deadlines.remove(slot: id.slot)
        retireIfIdle(&actions)
        return (ending, actions)
    }

    /// The caller was cancelled. Before the grant this ends the call; later, `begin` checks the task's own flag.
    mutating func cancel(_ id: ID) -> Actions {
        var actions = Actions()
        switch calls[id]?.stage {
        case .entered, .waiting: decide(id, .notStarted(.cancelled), &actions)
        case .running(let cancel):
            calls[id]?.stage = .abandoned
            deadlines.remove(slot: id.slot)
            if let cancel { actions.cancellations.append(cancel) }
            retireIfIdle(&actions)
        case .decided, .overdue, .lost, .abandoned, nil: break
        }
        return actions
    }
}
