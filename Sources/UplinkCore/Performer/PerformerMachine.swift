// SPDX-License-Identifier: Apache-2.0

/// Who waits for the network, until when, and what becomes of each: the performer's state machine.
///
/// It holds no clock, no monitor and no lock, and calls nobody. Times are nanoseconds on the performer's clock. A call
/// passes through `enter`, `suspend` and `begin`; paths, deadlines and cancellations reach it between these in any order.
struct PerformerMachine {
    typealias ID = ArrivalTable<Call>.ID
    typealias Continuation = CheckedContinuation<Verdict, Never>

    /// What a waiting call is told.
    enum Verdict {
        /// The network is there: go and `begin`.
        case granted
        /// The operation will never run.
        case notStarted(NetworkOperationError)
    }

    /// One call of the performer.
    struct Call {
        let requirement: NetworkRequirement
        /// When the time is over; `Int64.max` for never.
        let deadline: Int64
        /// Whether the deadline holds for the operation too.
        let isSupervised: Bool
        /// Whether the call waits beyond its deadline for the first word on the path.
        var isInGrace: Bool
        var stage: Stage
    }

    /// Where a call stands.
    enum Stage {
        /// It has a place and has not suspended yet.
        case entered
        /// It waits for the network.
        case waiting(Continuation)
        /// Its verdict came before it suspended.
        case decided(Verdict)
        /// It has its verdict that the network is there, and is on its way to `begin`.
        case granted
        /// Its operation runs in a task of its own; the closure cancels that task, once there is one.
        case running(cancel: (@Sendable () -> Void)?)
        /// Its operation runs on, cancelled by the deadline.
        case overdue
        /// Its operation runs on, cancelled by the caller; the deadline no longer matters.
        case abandoned
    }

    /// What is to be done outside the lock, in this order.
    struct Actions {
        /// Calls to resume, in order of arrival.
        var resumptions: [(Continuation, Verdict)] = []
        /// Operations to cancel.
        var cancellations: [@Sendable () -> Void] = []
        /// Begin to watch the monitor, as the subscription of this number.
        var subscribe: UInt64?
        /// Tasks to cancel: a subscription that nobody needs, a deadline that is no longer the earliest.
        var retired: [Task<Void, Never>] = []
        /// Sleep until this time, as the alarm of this number.
        var arm: (deadline: Int64, number: UInt64)?
    }

    /// What `begin` answers.
    enum Start {
        /// Run the operation now.
        case started
        /// The network went away again: look once more, then suspend again.
        case requeued
        /// The operation will never run.
        case notStarted(NetworkOperationError)
    }

    private var calls = ArrivalTable<Call>()
    private var deadlines = DeadlineHeap()
    private var subscription = Attendant()
    private var alarm = Attendant()
    private var alarmDeadline = Int64.max
    /// How many calls need the monitor: all but those whose operation runs.
    private var waitingCount = 0
    private var lastPath: NetworkPath?

    /// What is there, for tests and assertions.
    var census: PerformerCensus {
        PerformerCensus(
            waiting: waitingCount, running: calls.count - waitingCount, deadlines: deadlines.count,
            isSubscribed: subscription.isActive, isArmed: alarm.isActive)
    }
}

// MARK: - A call's way

extension PerformerMachine {
    /// Gives a call its place. Until the path is known its deadline is not before `graceEnd`.
    mutating func enter(
        requirement: NetworkRequirement, deadline: Int64, graceEnd: Int64, isSupervised: Bool
    ) -> ID {
        let id = calls.append(
            Call(
                requirement: requirement, deadline: deadline, isSupervised: isSupervised,
                isInGrace: deadline < graceEnd, stage: .entered))
        waitingCount += 1
        if deadline != .max { deadlines.insert(deadline: max(deadline, graceEnd), slot: id.slot) }
        return id
    }

    /// Suspends the call, unless its verdict has come already. From here on the monitor is watched.
    mutating func suspend(_ id: ID, _ continuation: Continuation) -> Actions {
        var actions = Actions()
        switch calls[id]?.stage {
        case .entered:
            calls[id]?.stage = .waiting(continuation)
            if !subscription.isActive { actions.subscribe = subscription.start() }
            armForFirst(&actions)
        case .decided(let verdict): tell(id, verdict, continuation, &actions)
        case .waiting, .granted, .running, .overdue, .abandoned, nil:
            preconditionFailure("a call suspends once after it entered, and once after it was requeued")
        }
        return actions
    }

    /// Says whether the operation may run now. The last word before it does.
    ///
    /// - Parameters:
    ///   - isEnough: What the newest path says; nil when there is none, because the monitor has paused or stopped.
    ///   - graceEnd: Until when a call waits for the word of a monitor that has none.
    mutating func begin(
        _ id: ID, isEnough: Bool?, isCancelled: Bool, now: Int64, graceEnd: Int64
    ) -> (Start, Actions) {
        var actions = Actions()
        guard let call = calls[id] else { preconditionFailure("a call begins with the place it entered") }
        switch call.stage {
        case .entered, .granted, .decided(.granted): break
        case .decided(.notStarted(let error)):
            leave(id, &actions)
            return (.notStarted(error), actions)
        case .waiting, .running, .overdue, .abandoned: preconditionFailure("a call begins once, and not while it waits")
        }
        if isCancelled {
            leave(id, &actions)
            return (.notStarted(.cancelled), actions)
        }
        guard isEnough == true else {
            if isEnough == false, call.deadline <= now {
                let error = timedOut(call)
                leave(id, &actions)
                return (.notStarted(error), actions)
            }
            calls[id]?.stage = .entered
            calls[id]?.isInGrace = isEnough == nil && call.deadline < graceEnd
            setDeadline(of: id, notBefore: isEnough == nil ? graceEnd : .min, &actions)
            return (.requeued, actions)
        }
        if call.isSupervised {
            calls[id]?.stage = .running(cancel: nil)
            waitingCount -= 1
            setDeadline(of: id, &actions)
            retireIfIdle(&actions)
        } else {
            leave(id, &actions)
        }
        return (.started, actions)
    }

    /// Takes note of how to cancel an operation that has begun.
    mutating func run(_ id: ID, cancel: @escaping @Sendable () -> Void) -> Actions {
        var actions = Actions()
        switch calls[id]?.stage {
        case .running: calls[id]?.stage = .running(cancel: cancel)
        case .overdue, .abandoned: actions.cancellations.append(cancel)
        case nil: break  // it has ended already
        case .entered, .waiting, .decided, .granted: preconditionFailure("an operation runs after it has begun")
        }
        return actions
    }

    /// Ends a supervised call and says whether the deadline cancelled its operation.
    mutating func finish(_ id: ID) -> (isOverdue: Bool, Actions) {
        var (isOverdue, actions) = (false, Actions())
        if case .overdue = calls[id]?.stage { isOverdue = true }
        calls.remove(id)
        deadlines.remove(slot: id.slot)
        retireIfIdle(&actions)
        return (isOverdue, actions)
    }

    /// The caller was cancelled. Before the grant this ends the call; at `begin` the task's own flag is asked.
    mutating func cancel(_ id: ID) -> Actions {
        var actions = Actions()
        switch calls[id]?.stage {
        case .entered, .waiting: decide(id, .notStarted(.cancelled), &actions)
        case .running(let cancel):
            calls[id]?.stage = .abandoned
            deadlines.remove(slot: id.slot)
            if let cancel { actions.cancellations.append(cancel) }
            retireIfIdle(&actions)
        case .decided, .granted, .overdue, .abandoned, nil: break
        }
        return actions
    }
}

// MARK: - What happens meanwhile

extension PerformerMachine {
    /// The calls that a new path may concern, in order of arrival, for `answer` to be given outside the lock.
    mutating func pathArrived(_ path: NetworkPath, subscription number: UInt64) -> [(ID, NetworkRequirement)] {
        guard subscription.isCurrent(number) else { return [] }
        lastPath = path
        return calls.ids.compactMap { id in
            guard let call = calls[id] else { return nil }
            switch call.stage {
            case .entered, .waiting: return (id, call.requirement)
            case .decided, .granted, .running, .overdue, .abandoned: return nil
            }
        }
    }

    /// Takes the answers to whether a path is enough, for calls that wait.
    mutating func answered(_ answers: [(ID, isEnough: Bool)], now: Int64) -> Actions {
        var actions = Actions()
        for (id, isEnough) in answers {
            guard let call = calls[id] else { continue }
            switch call.stage {
            case .entered, .waiting:
                // The path is known now, so that no grace is left. Exactly at the deadline it came in time, and so did
                // the first word within the grace: it says what was so at the call.
                if isEnough, now <= call.deadline || call.isInGrace {
                    decide(id, .granted, &actions)
                } else if call.deadline <= now {
                    decide(id, .notStarted(timedOut(call)), &actions)
                } else if call.isInGrace {
                    calls[id]?.isInGrace = false
                    setDeadline(of: id, &actions)
                }
            case .decided, .granted, .running, .overdue, .abandoned: break
            }
        }
        return actions
    }

    /// The monitor's stream ended: stopped, or failed with an error.
    mutating func pathsEnded(_ error: NetworkMonitorError?, subscription number: UInt64) -> Actions {
        var actions = Actions()
        guard subscription.isCurrent(number) else { return actions }
        subscription.end()
        lastPath = nil
        let verdict = Verdict.notStarted(error.map(NetworkOperationError.monitorFailed) ?? .stopped)
        for id in calls.ids {
            switch calls[id]?.stage {
            case .entered, .waiting: decide(id, verdict, &actions)
            case .decided, .granted, .running, .overdue, .abandoned, nil: break
            }
        }
        return actions
    }

    /// The alarm went off: ends what is due and sets the next.
    mutating func alarmWentOff(_ number: UInt64, now: Int64) -> Actions {
        var actions = Actions()
        guard alarm.isCurrent(number) else { return actions }
        alarm.end()
        alarmDeadline = .max
        while let entry = deadlines.popDue(at: now) {
            let id = calls.id(inSlot: entry.slot)
            guard let call = calls[id] else { continue }
            switch call.stage {
            case .entered, .waiting: decide(id, .notStarted(timedOut(call)), &actions)
            case .running(let cancel):
                calls[id]?.stage = .overdue
                if let cancel { actions.cancellations.append(cancel) }
            case .decided, .granted, .overdue, .abandoned: break
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

// MARK: - Steps

extension PerformerMachine {
    private func timedOut(_ call: Call) -> NetworkOperationError {
        .timedOut(requirement: call.requirement, lastPath: lastPath)
    }

    /// Gives a call its verdict, now or when it suspends.
    private mutating func decide(_ id: ID, _ verdict: Verdict, _ actions: inout Actions) {
        deadlines.remove(slot: id.slot)
        if case .waiting(let continuation) = calls[id]?.stage {
            tell(id, verdict, continuation, &actions)
        } else {
            calls[id]?.stage = .decided(verdict)
        }
    }

    private mutating func tell(
        _ id: ID, _ verdict: Verdict, _ continuation: Continuation, _ actions: inout Actions
    ) {
        actions.resumptions.append((continuation, verdict))
        switch verdict {
        case .granted: calls[id]?.stage = .granted
        case .notStarted: leave(id, &actions)
        }
    }

    private mutating func leave(_ id: ID, _ actions: inout Actions) {
        calls.remove(id)
        deadlines.remove(slot: id.slot)
        waitingCount -= 1
        retireIfIdle(&actions)
    }

    private mutating func setDeadline(of id: ID, notBefore earliest: Int64 = .min, _ actions: inout Actions) {
        guard let call = calls[id], call.deadline != .max else { return }
        deadlines.remove(slot: id.slot)
        deadlines.insert(deadline: max(call.deadline, earliest), slot: id.slot)
        armForFirst(&actions)
    }

    /// Arms the alarm for the earliest deadline. When the call whose deadline that is leaves, the alarm stays: it goes
    /// off once for nobody and is set anew then, so that a storm of leaving calls sets it only once.
    private mutating func armForFirst(_ actions: inout Actions) {
        guard let first = deadlines.first, first.deadline < alarmDeadline else { return }
        if let task = alarm.end() { actions.retired.append(task) }
        alarmDeadline = first.deadline
        actions.arm = (first.deadline, alarm.start())
    }

    private mutating func retireIfIdle(_ actions: inout Actions) {
        if waitingCount == 0, let task = subscription.end() {
            lastPath = nil
            actions.retired.append(task)
        }
        if deadlines.isEmpty, alarm.isActive {
            if let task = alarm.end() { actions.retired.append(task) }
            alarmDeadline = .max
            actions.arm = nil
        }
    }
}
