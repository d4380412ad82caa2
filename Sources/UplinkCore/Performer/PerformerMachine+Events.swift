// SPDX-License-Identifier: Apache-2.0

// What happens while calls wait: paths, the monitor's end, the alarm.

extension PerformerMachine {
    /// Stores a new path. Returns the current calls in order of arrival, for `questions`.
    mutating func pathArrived(_ path: NetworkPath, subscription number: UInt64) -> [ID] {
        guard subscription.isCurrent(number) else { return [] }
        lastPath = path
        return calls.ids
    }

    /// The calls that must be told of a path before a call begins that has read it by itself, because slots are given
    /// in order of arrival.
    func overtaken(by id: ID, on generation: UInt64) -> [ID] {
        guard maximumRunning != nil, waitingCount > 1, generation > toldGeneration else { return [] }
        return calls.ids.filter { $0 != id }
    }

    /// Notes that all waiting calls have been told the path of this generation.
    mutating func told(_ generation: UInt64) { toldGeneration = max(toldGeneration, generation) }

    /// Stores a path that a call has read by itself, until the monitor publishes one.
    mutating func saw(_ path: NetworkPath) { if lastPath == nil { lastPath = path } }

    /// What to check a new path against for these calls, outside the lock: those that wait, for `answered`, and those
    /// whose running operation is to be cancelled on a loss, for `lost`.
    func questions(
        of ids: ArraySlice<ID>
    ) -> (waiting: [(ID, NetworkRequirement)], watching: [(ID, NetworkRequirement)]) {
        var (waiting, watching): ([(ID, NetworkRequirement)], [(ID, NetworkRequirement)]) = ([], [])
        for id in ids {
            guard let call = calls[id] else { continue }
            switch call.stage {
            case .entered, .waiting: waiting.append((id, call.requirement))
            case .running: if call.watchesLoss { watching.append((id, call.requirement)) }
            case .decided, .overdue, .lost, .abandoned: break
            }
        }
        return (waiting, watching)
    }

    /// The newest path does not meet the requirements of these calls, whose operations are running.
    mutating func lost(_ ids: [ID]) -> Actions {
        var actions = Actions()
        for id in ids {
            switch calls[id]?.stage {
            case .running(let cancel):
                calls[id]?.stage = .lost
                deadlines.remove(slot: id.slot)
                if let cancel { actions.cancellations.append(cancel) }
            case .entered, .waiting, .decided, .overdue, .lost, .abandoned, nil: break
            }
        }
        retireIfIdle(&actions)
        return actions
    }

    /// Takes the results of checking a path for waiting calls.
    mutating func answered(_ answers: [(ID, Look)], now: Int64) -> Actions {
        var actions = Actions()
        for (id, look) in answers {
            guard let call = calls[id] else { continue }
            switch call.stage {
            case .entered, .waiting:
                // The path is known now, so the grace period is over. A path that arrives exactly at the deadline is in
                // time, and so is the first path within the grace period: it shows the state at the time of the call.
                calls[id]?.hasLooked = true
                let isReady = note(id, look, now: now)
                if isReady, calls[id]?.steadyFrom.map({ $0 <= call.firstPathDeadline }) == true {
                    grant(id, now: now, &actions)
                } else if call.deadline <= now {
                    decide(id, .notStarted(timedOut(id)), &actions)
                } else if call.isInGrace || call.steadySince != calls[id]?.steadySince {
                    calls[id]?.endGrace()
                    setAlarm(of: id, &actions)
                }
            case .decided, .running, .overdue, .lost, .abandoned: break
            }
        }
        return actions
    }

    /// The monitor's stream ended: stopped, or failed with an error.
    mutating func pathsEnded(_ error: NetworkMonitorError?, subscription number: UInt64) -> Actions {
        var actions = Actions()
        guard subscription.isCurrent(number) else { return actions }
        subscription.end()
        (lastPath, toldGeneration) = (nil, 0)
        let verdict = Verdict.notStarted(error.map(NetworkOperationError.monitorFailed) ?? .stopped)
        for id in calls.ids {
            switch calls[id]?.stage {
            case .entered, .waiting: decide(id, verdict, &actions)
            case .decided, .running, .overdue, .lost, .abandoned, nil: break
            }
        }
        return actions
    }

    /// The alarm went off: ends calls that are out of time, grants those whose path has been stable for long enough,
    /// and sets the next alarm.
    mutating func alarmWentOff(_ number: UInt64, now: Int64) -> Actions {
        var actions = Actions()
        guard alarm.isCurrent(number) else { return actions }
        alarm.end()
        alarmDeadline = .max
        for id in popDue(at: now) {
            guard let call = calls[id] else { continue }
            switch call.stage {
            case .entered, .waiting:
                if !call.isInLine, let steadyFrom = call.steadyFrom, steadyFrom <= min(now, call.deadline) {
                    grant(id, now: now, &actions)
                } else {
                    decide(id, .notStarted(timedOut(id)), &actions)
                }
            case .running(let cancel):
                calls[id]?.stage = .overdue
                if let cancel { actions.cancellations.append(cancel) }
            case .decided, .overdue, .lost, .abandoned: break
            }
        }
        armForFirst(&actions)
        return actions
    }

    /// Takes the calls that are due, in order of arrival: the heap has those with equal deadlines in any order.
    private mutating func popDue(at now: Int64) -> [ID] {
        var due: [(arrival: Int64, id: ID)] = []
        while let entry = deadlines.popDue(at: now) {
            let id = calls.id(inSlot: entry.slot)
            if let call = calls[id] { due.append((call.arrival, id)) }
        }
        due.sort { $0.arrival < $1.arrival }
        return due.map(\.id)
    }

    /// Attaches the task that watches the monitor; returns it if it is no longer needed.
    mutating func subscribed(_ number: UInt64, _ task: Task<Void, Never>) -> Task<Void, Never>? {
        subscription.attach(task, number)
    }

    /// Attaches the task that sleeps for the alarm; returns it if it is no longer needed.
    mutating func armed(_ number: UInt64, _ task: Task<Void, Never>) -> Task<Void, Never>? {
        alarm.attach(task, number)
    }
}
