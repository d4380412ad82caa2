// SPDX-License-Identifier: Apache-2.0

// What happens while calls wait: paths, the monitor's end, the alarm.

extension PerformerMachine {
    /// Takes note of a new path. Returns the calls that are there, in order of arrival, for `questions`.
    mutating func pathArrived(_ path: NetworkPath, subscription number: UInt64) -> [ID] {
        guard subscription.isCurrent(number) else { return [] }
        lastPath = path
        return calls.ids
    }

    /// The calls that have to hear of a path before one begins that has seen it by itself: slots are given in order of
    /// arrival.
    func overtaken(by id: ID, on generation: UInt64) -> [ID] {
        guard maximumRunning != nil, waitingCount > 1, generation > toldGeneration else { return [] }
        return calls.ids.filter { $0 != id }
    }

    /// Takes note that all who wait have been told the path of this generation.
    mutating func told(_ generation: UInt64) { toldGeneration = max(toldGeneration, generation) }

    /// Takes note of what a call has seen by itself, until the monitor tells something.
    mutating func saw(_ path: NetworkPath) { if lastPath == nil { lastPath = path } }

    /// What a new path has to be asked for these calls, outside the lock: those that wait, for `answered`, and those
    /// whose operation runs and is to be cancelled, for `lost`.
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

    /// The newest path is not enough for these calls, whose operations run.
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

    /// Takes what calls that wait found about a path.
    mutating func answered(_ answers: [(ID, Look)], now: Int64) -> Actions {
        var actions = Actions()
        for (id, look) in answers {
            guard let call = calls[id] else { continue }
            switch call.stage {
            case .entered, .waiting:
                // The path is known now, so that no grace is left. Exactly at the deadline it came in time, and so did
                // the first word within the grace: it says what was so at the call.
                calls[id]?.hasLooked = true
                let isReady = note(id, look, now: now)
                if isReady, calls[id]?.steadyFrom.map({ $0 <= call.deadline }) == true || call.isInGrace {
                    grant(id, now: now, &actions)
                } else if call.deadline <= now {
                    decide(id, .notStarted(timedOut(id)), &actions)
                } else if call.isInGrace || call.steadySince != calls[id]?.steadySince {
                    calls[id]?.isInGrace = false
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

    /// The alarm went off: ends what is out of time, grants what has been stable for long enough, and sets the next.
    mutating func alarmWentOff(_ number: UInt64, now: Int64) -> Actions {
        var actions = Actions()
        guard alarm.isCurrent(number) else { return actions }
        alarm.end()
        alarmDeadline = .max
        while let entry = deadlines.popDue(at: now) {
            let id = calls.id(inSlot: entry.slot)
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

    /// The task that watches the monitor; handed back at once if it is not needed any more.
    mutating func subscribed(_ number: UInt64, _ task: Task<Void, Never>) -> Task<Void, Never>? {
        subscription.attach(task, number)
    }

    /// The task that sleeps for the alarm; handed back at once if it is not needed any more.
    mutating func armed(_ number: UInt64, _ task: Task<Void, Never>) -> Task<Void, Never>? {
        alarm.attach(task, number)
    }
}
