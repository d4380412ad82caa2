// SPDX-License-Identifier: Apache-2.0

/// Who waits for the network, until when, and what becomes of each: the performer's state machine.
///
/// It holds no clock, no monitor and no lock, and calls nobody. Times are nanoseconds on the performer's clock. A call
/// passes through `enter`, `suspend` and `begin`; paths, deadlines and cancellations reach it between these in any order.
struct PerformerMachine {
    typealias ID = ArrivalTable<Call>.ID
    /// Leave to run; its element is how many calls run on it: one, and those performed in that one's operation.
    typealias Slot = ArrivalTable<Int>.ID
    typealias Continuation = CheckedContinuation<Void, Never>

    /// What a waiting call finds when it is resumed.
    enum Verdict {
        /// The network is there: go and `begin`.
        case granted
        /// The operation will never run. Indirect, because it would double the size of every call that waits.
        indirect case notStarted(NetworkOperationError)
    }

    /// One call of the performer.
    ///
    /// Very many may wait, so the order of the members is one that leaves few gaps.
    struct Call {
        let requirement: NetworkRequirement
        /// When the time is over; `Int64.max` for never.
        let deadline: Int64
        /// The call's number in order of arrival.
        let arrival: Int64
        /// The operation does not start before, though the network be there.
        let notBefore: Int64
        /// The generation of the newest path that the call has seen.
        var generation: UInt64 = 0
        /// Since when the path has been enough, as far as the call has seen; nil while it is not.
        var steadySince: Int64?
        /// Whether the deadline holds for the operation too.
        let isSupervised: Bool
        /// Whether the operation is cancelled when the network is lost.
        let watchesLoss: Bool
        /// Whether the call waits beyond its deadline for the first word on the path.
        var isInGrace: Bool
        /// Whether it was told what it found of a path.
        var hasLooked = false
        /// Whether it has all but a slot.
        var isInLine = false
        var stage: Stage
        /// The slot of the operation that the call was made in.
        let parent: Slot?
        /// The slot it holds, from the grant to the operation's end.
        var slot: Slot?

        /// Whether the deadline can still do something: always before the operation, and then if it is supervised.
        var deadlineMatters: Bool {
            switch stage {
            case .entered, .waiting, .decided: true
            case .running: isSupervised
            case .overdue, .lost, .abandoned: false
            }
        }

        /// When the path will have been enough for the minimum stable time, and a pause will be over; nil while it is not.
        var steadyFrom: Int64? {
            guard let steadySince else { return nil }
            let time = requirement.stableTime
            return max(notBefore, time == .zero ? steadySince : TimeLimit(time).deadline(from: steadySince))
        }
    }

    /// Where a call stands.
    enum Stage {
        /// It has a place and has not suspended yet.
        case entered
        /// It waits for the network.
        case waiting(Continuation)
        /// It has its verdict, and is on its way to `begin`.
        case decided(Verdict)
        /// Its operation runs; the closure cancels the operation's own task, once there is one.
        case running(cancel: (@Sendable () -> Void)?)
        /// Its operation runs on, cancelled by the deadline.
        case overdue
        /// Its operation runs on, cancelled because the network was lost; the deadline no longer matters.
        case lost
        /// Its operation runs on, cancelled by the caller; the deadline no longer matters.
        case abandoned
    }

    /// What is to be done outside the lock, in this order.
    struct Actions {
        /// Calls to resume, in order of arrival.
        var resumptions: [Continuation] = []
        /// Operations to cancel.
        var cancellations: [@Sendable () -> Void] = []
        /// Begin to watch the monitor, as the subscription of this number.
        var subscribe: UInt64?
        /// Tasks to cancel: a subscription that nobody needs, a deadline that is no longer the earliest.
        var retired: [Task<Void, Never>] = []
        /// Sleep until this time, as the alarm of this number.
        var arm: (deadline: Int64, number: UInt64)?
        /// What a call that has left required. It may hold objects of the user's, whose end is not to be under the lock.
        var released: NetworkRequirement?
    }

    /// What a path is to a call.
    struct Look {
        /// Whether it meets the call's requirement.
        let isEnough: Bool
        /// The path's generation.
        let generation: UInt64

        init(_ path: NetworkPath, _ requirement: NetworkRequirement) {
            (isEnough, generation) = (requirement.isSatisfied(by: path), path.generation)
        }
    }

    /// What a call is to do before it begins.
    enum Standing {
        /// Look at the path, and begin only if it is enough.
        case undecided(NetworkRequirement)
        /// Look at the path and begin: the network came.
        case granted(NetworkRequirement)
        /// Begin, and hear why the operation never runs.
        case denied
    }

    /// What `begin` answers.
    enum Start {
        /// Run the operation now, on this slot if the number of slots is limited.
        case started(Slot?)
        /// The network went away again, was not there for long enough, or there is no slot: suspend again, and if this
        /// was after a grant, look before.
        case requeued
        /// A newer path has been told than the one that was looked at: look at that one, and begin again.
        case superseded
        /// The operation will never run.
        case notStarted(NetworkOperationError)
    }

    /// What an operation had met with when it ended.
    enum Ending {
        /// Nothing, or its caller's cancellation.
        case undisturbed
        /// The deadline, which cancelled it.
        case overdue
        /// The loss of the network, which cancelled it.
        case lost
    }

    /// How many operations may run at once; nil for any number.
    let maximumRunning: Int?
    /// The slots that are taken.
    var slots = ArrivalTable<Int>()
    /// Calls that have all but a slot, the earliest to arrive in front: a heap by arrival.
    var line = DeadlineHeap()
    var arrivals: Int64 = 0
    var calls = ArrivalTable<Call>()
    var deadlines = DeadlineHeap()
    var subscription = Attendant()
    var alarm = Attendant()
    var alarmDeadline = Int64.max
    /// How many calls wait: all but those whose operation runs.
    var waitingCount = 0
    /// How many operations run that are cancelled when the network is lost.
    var watchingCount = 0
    var lastPath: NetworkPath?
    /// The newest generation that all who wait have been told.
    var toldGeneration: UInt64 = 0
    /// What became of the calls that have left; what is there now is filled in when it is asked for.
    var totals = PerformerStatistics()

    init(maximumRunning: Int? = nil) { self.maximumRunning = maximumRunning }

    var statistics: PerformerStatistics {
        var statistics = totals
        (statistics.waiting, statistics.running) = (waitingCount, calls.count - waitingCount)
        return statistics
    }

    /// What is there, for tests and assertions.
    var census: PerformerCensus {
        PerformerCensus(
            waiting: waitingCount, inLine: line.count, running: calls.count - waitingCount,
            deadlines: deadlines.count, isSubscribed: subscription.isActive, isArmed: alarm.isActive)
    }
}
