// SPDX-License-Identifier: Apache-2.0

/// The performer's state machine: who waits for the network, until when, and with what outcome.
///
/// It has no clock, monitor or lock, and calls nobody. Times are nanoseconds on the performer's clock. A call passes
/// through `enter`, `suspend` and `begin`; paths, deadlines and cancellations reach it in between, in any order.
struct PerformerMachine {
    typealias ID = ArrivalTable<Call>.ID
    /// Permission to run. The element is the number of calls that run in it: one, and those made inside that one's
    /// operation.
    typealias Slot = ArrivalTable<Int>.ID
    typealias Continuation = Suspension

    /// The result that a waiting call finds when it is resumed.
    enum Verdict {
        /// The network is available: call `begin`.
        case granted
        /// The operation will never run. Indirect, because it would double the size of every call that waits.
        indirect case notStarted(NetworkOperationError)
    }

    /// One call of the performer.
    ///
    /// Very many may wait, so the members are in an order that leaves few gaps.
    struct Call {
        let requirement: NetworkRequirement
        /// When the time is over; `Int64.max` for never.
        let deadline: Int64
        /// The call's number in order of arrival.
        let arrival: Int64
        /// The operation does not start earlier than this, even if the network is available.
        let notBefore: Int64
        /// The generation of the newest path that the call has seen.
        var generation: UInt64 = 0
        /// The time since which the path has met the requirement, as far as the call has seen; nil while it does not.
        var steadySince: Int64?
        /// Whether the deadline also applies to the operation.
        let isSupervised: Bool
        /// Whether the operation is cancelled when the network is lost.
        let watchesLoss: Bool
        /// Until when the call waits for the first path: later than the deadline during the grace period, and else the
        /// deadline.
        var firstPathDeadline: Int64
        /// Whether there was a first look for this call: at a path, or at the absence of one.
        var hasLooked = false
        var stage: Stage
        /// The slot of the operation that the call was made in.
        let parent: Slot?
        var slotState = SlotState.without

        /// Whether the call waits beyond its deadline for the first path.
        var isInGrace: Bool { firstPathDeadline > deadline }

        mutating func endGrace() { firstPathDeadline = deadline }

        /// The slot it holds, if any.
        var slot: Slot? {
            switch slotState {
            case .holding(let slot): slot
            case .without, .inLine: nil
            }
        }

        /// Whether it lacks only a slot.
        var isInLine: Bool {
            switch slotState {
            case .inLine: true
            case .without, .holding: false
            }
        }

        /// Whether the deadline still has an effect: always before the operation, and during it if it is supervised.
        var deadlineMatters: Bool {
            switch stage {
            case .entered, .waiting, .decided: true
            case .running: isSupervised
            case .overdue, .lost, .abandoned: false
            }
        }

        /// When the path will have met the requirement for the minimum stable time and any pause is over; nil while it
        /// does not meet it.
        var steadyFrom: Int64? {
            guard let steadySince else { return nil }
            let time = requirement.stableTime
            return max(notBefore, time == .zero ? steadySince : TimeLimit(time).deadline(from: steadySince))
        }
    }

    /// The stage that a call has reached.
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

    /// How far a call has come with the slot it needs, where the number of slots is limited.
    enum SlotState {
        /// It has not asked for one, or has given it back.
        case without
        /// It stands in line, because all are taken.
        case inLine
        /// It holds this one, from the grant to the operation's end.
        case holding(Slot)
    }

    /// Work to do outside the lock, in this order.
    struct Actions {
        /// Calls to resume, in order of arrival.
        var resumptions: [Continuation] = []
        /// Operations to cancel.
        var cancellations: [@Sendable () -> Void] = []
        /// Begin to watch the monitor, as the subscription of this number.
        var subscribe: UInt64?
        /// Tasks to cancel: a subscription that nobody needs, an alarm that is no longer the earliest.
        var retired: [Task<Void, Never>] = []
        /// Sleep until this time, as the alarm of this number.
        var arm: (deadline: Int64, number: UInt64)?
        /// The requirement of a call that has left. It may hold user objects, which must not be released under the
        /// lock.
        var released: NetworkRequirement?
    }

    /// How a path looks to a call.
    struct Look {
        /// Whether it meets the call's requirement.
        let isEnough: Bool
        /// The path's generation.
        let generation: UInt64

        init(_ path: NetworkPath, _ requirement: NetworkRequirement) {
            (isEnough, generation) = (requirement.isSatisfied(by: path), path.generation)
        }
    }

    /// What a call has to do before it begins.
    enum Standing {
        /// Look at the path, and begin only if it meets the requirement.
        case undecided(NetworkRequirement)
        /// Look at the path and begin: the network came.
        case granted(NetworkRequirement)
        /// Begin, to get the reason why the operation never runs.
        case denied
    }

    /// The answer of `begin`.
    enum Start {
        /// Run the operation now, in this slot if the number of slots is limited.
        case started(Slot?)
        /// The network is not available, or not for long enough, or there is no slot: suspend.
        case wait
        /// The same for a call that was granted: things have changed since, so look at the path, and begin again.
        case lookAgain
        /// A newer path has been published than the one that was looked at: look at that one, and begin again.
        case superseded
        /// The operation will never run.
        case notStarted(NetworkOperationError)
    }

    /// What had happened to an operation by the time it ended.
    enum Ending {
        /// Nothing, or its caller's cancellation.
        case undisturbed
        /// The deadline, which cancelled it.
        case overdue
        /// The loss of the network, which cancelled it.
        case lost
    }

    /// How many operations may run at the same time; nil for any number.
    let maximumRunning: Int?
    /// The slots that are taken.
    var slots = ArrivalTable<Int>()
    /// Calls that lack only a slot, in a heap by order of arrival.
    var line = DeadlineHeap()
    var arrivals: Int64 = 0
    var calls = ArrivalTable<Call>()
    var deadlines = DeadlineHeap()
    var subscription = NumberedTask()
    var alarm = NumberedTask()
    var alarmDeadline = Int64.max
    /// The number of waiting calls: all but those whose operation runs.
    var waitingCount = 0
    /// The number of running operations that are cancelled when the network is lost.
    var watchingCount = 0
    var lastPath: NetworkPath?
    /// The newest generation that all waiting calls have been told.
    var toldGeneration: UInt64 = 0
    /// The outcomes of the calls that have left; the current numbers are filled in on request.
    var totals = PerformerStatistics()

    init(maximumRunning: Int? = nil) { self.maximumRunning = maximumRunning }

    var statistics: PerformerStatistics {
        var statistics = totals
        (statistics.waiting, statistics.running) = (waitingCount, calls.count - waitingCount)
        return statistics
    }

    /// The current state, for tests and assertions.
    var census: PerformerCensus {
        PerformerCensus(
            waiting: waitingCount, inLine: line.count, running: calls.count - waitingCount,
            deadlines: deadlines.count, isSubscribed: subscription.isActive, isArmed: alarm.isActive)
    }
}
