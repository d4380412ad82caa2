// SPDX-License-Identifier: Apache-2.0

// The steps that the machine's inputs share.

extension PerformerMachine {
    func timedOut(_ id: ID) -> NetworkOperationError {
        guard let call = calls[id] else { preconditionFailure("a call that times out is there") }
        // If no stability was asked for, a path that is there now came too late.
        let lacksPath = call.steadySince == nil || call.requirement.stableTime == .zero
        return .timedOut(
            missing: call.isInLine ? .slot : lacksPath ? .path : .stability, requirement: call.requirement,
            lastPath: lastPath)
    }

    /// Stores what a call found, and returns whether it now has everything that it waits for.
    mutating func note(_ id: ID, _ look: Look?, now: Int64) -> Bool {
        guard let call = calls[id] else { return false }
        guard let look else { return gone(id) }
        // A call looks without the lock: a newer path may have reached it in the meantime, and it is not told twice.
        guard look.generation >= call.generation else { return call.steadyFrom.map { $0 <= now } ?? false }
        guard look.isEnough else {
            calls[id]?.generation = look.generation
            return gone(id)
        }
        // After a gap the path may have been away in between. A call that asks for no stability need not care.
        let isGap = call.requirement.stableTime > .zero && look.generation > call.generation &+ 1
        if call.steadySince == nil || isGap { calls[id]?.steadySince = now }
        calls[id]?.generation = look.generation
        let isReady = calls[id]?.steadyFrom.map { $0 <= now } ?? false
        if !isReady { leaveLine(id) }
        return isReady
    }

    /// Notes that the path does not meet the requirement.
    private mutating func gone(_ id: ID) -> Bool {
        calls[id]?.steadySince = nil
        leaveLine(id)
        return false
    }

    /// Gives a call its verdict, and resumes it if it waits.
    mutating func decide(_ id: ID, _ verdict: Verdict, _ actions: inout Actions) {
        deadlines.remove(slot: id.slot)
        leaveLine(id)
        if case .waiting(let continuation) = calls[id]?.stage { actions.resumptions.append(continuation) }
        calls[id]?.stage = .decided(verdict)
    }

    /// Ends a call whose operation never runs.
    mutating func leave(_ id: ID, _ error: NetworkOperationError, now: Int64, _ actions: inout Actions) {
        note(error)
        leaveLine(id)
        releaseSlot(id, now: now, &actions)
        actions.released = calls.remove(id)?.requirement
        deadlines.remove(slot: id.slot)
        waitingCount -= 1
        retireIfIdle(&actions)
    }

    /// Counts a call whose operation never ran.
    mutating func note(_ error: NetworkOperationError) {
        if error.code == .timedOut { totals.timedOut += 1 }
        if error.code == .cancelled { totals.cancelled += 1 }
    }

    /// Sets the call's alarm: for the end of its time or, if earlier, for when the path will have been stable for long
    /// enough.
    mutating func setAlarm(of id: ID, _ actions: inout Actions) {
        guard let call = calls[id] else { return }
        let steadyFrom = call.isInLine ? nil : call.steadyFrom
        let time = min(call.firstPathDeadline, steadyFrom ?? .max)
        deadlines.remove(slot: id.slot)
        guard time != .max, call.deadlineMatters else { return }
        deadlines.insert(deadline: time, slot: id.slot)
        armForFirst(&actions)
    }

    /// Arms the alarm for the earliest deadline. If the call with that deadline leaves, the alarm stays: it goes off
    /// once with nothing to do and is then set again, so that many calls leaving together set it only once.
    mutating func armForFirst(_ actions: inout Actions) {
        guard let first = deadlines.first, first.deadline < alarmDeadline else { return }
        if let task = alarm.end() { actions.retired.append(task) }
        alarmDeadline = first.deadline
        actions.arm = (first.deadline, alarm.start())
    }

    mutating func retireIfIdle(_ actions: inout Actions) {
        if waitingCount == 0, watchingCount == 0 {
            (lastPath, toldGeneration) = (nil, 0)
            if let task = subscription.end() { actions.retired.append(task) }
        }
        if deadlines.isEmpty, alarm.isActive {
            if let task = alarm.end() { actions.retired.append(task) }
            alarmDeadline = .max
            actions.arm = nil
        }
    }
}
