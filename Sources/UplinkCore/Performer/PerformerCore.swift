// SPDX-License-Identifier: Apache-2.0

/// The performer's shell: it takes calls to the state machine and back, and carries out the machine's actions.
///
/// Very many calls may wait in it, and what a function keeps over a suspension counts for each of them. So what waits
/// keeps an id and little else; paths, requests and errors stay in functions that are not async.
final class PerformerCore: Sendable {
    let monitor: any NetworkMonitor
    let clock: PerformerClock
    let machine: Locked<PerformerMachine>
    /// Why no operation will ever run.
    private let fault: NetworkOperationError?

    init(monitor: any NetworkMonitor, clock: PerformerClock, maximumRunning: Int?) {
        self.monitor = monitor
        self.clock = clock
        machine = Locked(PerformerMachine(maximumRunning: maximumRunning))
        fault = maximumRunning.map { $0 < 1 } == true ? .invalidMaximumRunning : nil
    }

    var statistics: PerformerStatistics { machine.withLock { $0.statistics } }
    var census: PerformerCensus { machine.withLock { $0.census } }

    /// A call that may run its operation now, and has to.
    struct Admission {
        let id: PerformerMachine.ID
        /// What it runs on, if not any number may run at once.
        let slot: PerformerMachine.Slot?
    }

    /// Why an operation never runs, as a reference.
    final class Refusal: Error {
        let error: NetworkOperationError

        init(_ error: NetworkOperationError) { self.error = error }
    }

    /// What a call asks for.
    struct Request {
        let requirement: NetworkRequirement
        /// When the waiting begins.
        var start: Int64
        let deadline: Int64
        /// Whether the deadline holds for the operation too.
        var isSupervised = false
        /// Whether the operation is cancelled when the network is lost.
        var watchesLoss = false
        /// The operation does not start before.
        var notBefore = Int64.min

        /// When the operation's time is over; `Int64.max` for never.
        var operationDeadline: Int64 { isSupervised ? deadline : .max }
    }

    /// Makes a request whose time counts from now.
    func request(
        _ requirement: NetworkRequirement, limit: TimeLimit, isSupervised: Bool = false, watchesLoss: Bool = false
    ) -> Request {
        let start = clock.now()
        return Request(
            requirement: requirement, start: start, deadline: limit.deadline(from: start), isSupervised: isSupervised,
            watchesLoss: watchesLoss)
    }

    /// Gives a call whose time counts from now its place, unless its task is cancelled.
    @inline(never)
    func enter(_ requirement: NetworkRequirement, limit: TimeLimit) -> Result<PerformerMachine.ID, Refusal> {
        enterUnlessCancelled(request(requirement, limit: limit))
    }

    /// Gives a call its place, unless its task is cancelled.
    @inline(never)
    func enterUnlessCancelled(_ request: Request) -> Result<PerformerMachine.ID, Refusal> {
        guard Task.isCancelled else { return enter(request) }
        machine.withLock { $0.note(.cancelled) }
        return .failure(Refusal(.cancelled))
    }

    /// Gives a call its place.
    func enter(_ request: Request) -> Result<PerformerMachine.ID, Refusal> {
        if let fault { return .failure(Refusal(fault)) }
        let parent = HeldSlot.current(of: self)
        let graceEnd = graceEnd(from: request.start)
        return .success(
            machine.withLock {
                $0.enter(
                    requirement: request.requirement, deadline: request.deadline, graceEnd: graceEnd,
                    isSupervised: request.isSupervised, watchesLoss: request.watchesLoss,
                    notBefore: request.notBefore, parent: parent)
            })
    }

    /// Waits until the network is there, in the caller's task, and takes the last look before the operation.
    ///
    /// Returns without suspending when the network is known to be there.
    @inline(__always)
    nonisolated(nonsending) func admit(
        _ place: Result<PerformerMachine.ID, Refusal>
    ) async -> Result<Admission, Refusal> {
        switch place {
        case .failure(let refusal): return .failure(refusal)
        case .success(let id):
            while true {
                if let outcome = proceed(id) { return outcome }
                await suspend(id)
            }
        }
    }

    /// Runs an admitted operation in the caller's task.
    nonisolated(nonsending) func run<Value, Failure: Error>(
        _ admission: Admission, _ operation: nonisolated(nonsending) () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        defer { _ = finish(admission.id) }
        return try await holding(admission.slot, operation)
    }

    /// Lets calls within `body` use the slot.
    nonisolated(nonsending) func holding<Value, Failure: Error>(
        _ slot: PerformerMachine.Slot?, _ body: nonisolated(nonsending) () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let slot else { return try await body() }
        // `withValue` rethrows, which loses the type of the error.
        let outcome: Result<Value, Failure> = await HeldSlot.$current.withValue(HeldSlot(slot, of: self)) {
            do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// Ends a call whose operation has ended.
    func finish(_ id: PerformerMachine.ID) -> PerformerMachine.Ending {
        let (ending, actions) = machine.withLock { $0.finish(id) }
        perform(actions)
        return ending
    }
}

extension PerformerCore {
    private func graceEnd(from now: Int64) -> Int64 { TimeLimit(monitor.timeToFirstPath).deadline(from: now) }

    /// Begins, or returns nil when there is something to wait for.
    ///
    /// A call has a place before it looks, so that a path which comes after the look finds it there.
    @inline(never)
    private func proceed(_ id: PerformerMachine.ID) -> Result<Admission, Refusal>? {
        while true {
            let isGranted: Bool
            let start: PerformerMachine.Start
            switch machine.withLock({ $0.standing(of: id) }) {
            case .denied: (isGranted, start) = (false, begin(id, nil))
            case .granted(let requirement): (isGranted, start) = (true, begin(id, look(requirement)))
            case .undecided(let requirement):
                guard let look = look(requirement) else { return nil }
                guard look.isEnough else {
                    answer([(id, look)])
                    return nil
                }
                (isGranted, start) = (false, begin(id, look))
            }
            switch start {
            case .started(let slot): return .success(Admission(id: id, slot: slot))
            case .notStarted(let error): return .failure(Refusal(error))
            case .requeued: if !isGranted { return nil }
            }
        }
    }

    private func look(_ requirement: NetworkRequirement) -> PerformerMachine.Look? {
        monitor.currentPath.map { PerformerMachine.Look($0, requirement) }
    }

    /// Asks for the last word. There is no look when the path is not known.
    private func begin(_ id: PerformerMachine.ID, _ look: PerformerMachine.Look?) -> PerformerMachine.Start {
        let now = clock.now()
        let graceEnd = graceEnd(from: now)
        let (start, actions) = machine.withLock {
            $0.begin(id, look: look, isCancelled: Task.isCancelled, now: now, graceEnd: graceEnd)
        }
        perform(actions)
        return start
    }

    private nonisolated(nonsending) func suspend(_ id: PerformerMachine.ID) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { park(id, $0) }
        } onCancel: {
            perform(machine.withLock { $0.cancel(id) })
        }
    }

    @inline(never)
    private func park(_ id: PerformerMachine.ID, _ continuation: PerformerMachine.Continuation) {
        perform(machine.withLock { $0.suspend(id, continuation) })
    }
}
