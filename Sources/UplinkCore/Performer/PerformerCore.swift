// SPDX-License-Identifier: Apache-2.0

/// The performer's shell: it feeds the state machine from the monitor and the clock, and carries out its actions.
final class PerformerCore: Sendable {
    private let monitor: any NetworkMonitor
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

    /// A call that may run its operation now.
    struct Admission {
        let id: PerformerMachine.ID
        /// What it runs on, if not any number may run at once.
        let slot: PerformerMachine.Slot?
        /// When a supervised operation's time is over; `Int64.max` for never.
        let deadline: Int64
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

    /// Waits until the network is there, in the caller's task, and takes the last look before the operation.
    ///
    /// Returns without suspending when the network is known to be there.
    nonisolated(nonsending) func admit(_ request: Request) async -> Result<Admission, NetworkOperationError> {
        if Task.isCancelled {
            machine.withLock { $0.note(.cancelled) }
            return .failure(.cancelled)
        }
        switch enter(request) {
        case .success(let id): return await admit(id, request)
        case .failure(let error): return .failure(error)
        }
    }

    /// Gives a call its place.
    func enter(_ request: Request) -> Result<PerformerMachine.ID, NetworkOperationError> {
        if let fault { return .failure(fault) }
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

    /// Waits in the place that the call has.
    nonisolated(nonsending) func admit(
        _ id: PerformerMachine.ID, _ request: Request
    ) async -> Result<Admission, NetworkOperationError> {
        let requirement = request.requirement
        let deadline = request.isSupervised ? request.deadline : .max
        // A place first, then the look: a path that comes after the look finds the call in its place.
        while true {
            if let path = monitor.currentPath {
                let look = PerformerMachine.Look(path, requirement)
                if look.isEnough {
                    switch begin(id, look) {
                    case .started(let slot): return .success(Admission(id: id, slot: slot, deadline: deadline))
                    case .notStarted(let error): return .failure(error)
                    case .requeued: break
                    }
                } else {
                    answer([(id, look)])
                }
            }
            switch await suspend(id) {
            case .notStarted(let error): return .failure(error)
            case .granted:
                switch begin(id, monitor.currentPath.map { PerformerMachine.Look($0, requirement) }) {
                case .started(let slot): return .success(Admission(id: id, slot: slot, deadline: deadline))
                case .notStarted(let error): return .failure(error)
                case .requeued: continue
                }
            }
        }
    }

    /// Runs an admitted operation in the caller's task.
    nonisolated(nonsending) func run<Value, Failure: Error>(
        _ admission: Admission, _ operation: nonisolated(nonsending) () async throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        defer { _ = finish(admission.id) }
        return await holding(admission.slot) {
            do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
        }
    }

    /// Lets calls within `body` use the slot.
    nonisolated(nonsending) func holding<Outcome>(
        _ slot: PerformerMachine.Slot?, _ body: nonisolated(nonsending) () async -> Outcome
    ) async -> Outcome {
        guard let slot else { return await body() }
        return await HeldSlot.$current.withValue(HeldSlot(slot, of: self)) { await body() }
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

    private nonisolated(nonsending) func suspend(_ id: PerformerMachine.ID) async -> PerformerMachine.Verdict {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                perform(machine.withLock { $0.suspend(id, continuation) })
            }
        } onCancel: {
            perform(machine.withLock { $0.cancel(id) })
        }
    }

    private func answer(_ answers: [(PerformerMachine.ID, PerformerMachine.Look)]) {
        let now = clock.now()
        perform(machine.withLock { $0.answered(answers, now: now) })
    }

    /// Requirements are the user's code at times, so they are asked with no lock held.
    private func pathArrived(_ path: NetworkPath, subscription number: UInt64) {
        let (waiting, watching) = machine.withLock { $0.pathArrived(path, subscription: number) }
        answer(waiting.map { id, requirement in (id, PerformerMachine.Look(path, requirement)) })
        if watching.isEmpty { return }
        // The newest path, since an operation may have begun on a newer one than the one that arrives here.
        let newest = monitor.currentPath ?? path
        let lost = watching.filter { !$0.1.isSatisfied(by: newest) }.map(\.0)
        perform(machine.withLock { $0.lost(lost) })
    }

    func perform(_ actions: PerformerMachine.Actions) {
        for (continuation, verdict) in actions.resumptions { continuation.resume(returning: verdict) }
        for cancel in actions.cancellations { cancel() }
        for task in actions.retired { task.cancel() }
        if let number = actions.subscribe {
            let task = Task.detached { await self.watchPaths(as: number) }
            machine.withLock { $0.subscribed(number, task) }?.cancel()
        }
        if let (deadline, number) = actions.arm {
            let task = Task.detached { await self.sleep(until: deadline, as: number) }
            machine.withLock { $0.armed(number, task) }?.cancel()
        }
    }

    private func watchPaths(as number: UInt64) async {
        var failure: NetworkMonitorError?
        do throws(NetworkMonitorError) {
            for try await path in monitor.paths { pathArrived(path, subscription: number) }
        } catch {
            failure = error
        }
        perform(machine.withLock { $0.pathsEnded(failure, subscription: number) })
    }

    private func sleep(until deadline: Int64, as number: UInt64) async {
        do {
            try await clock.sleep(until: deadline)
        } catch  where !Task.isCancelled {
            // The clock has failed (its event loop ended): the system's keeps the limit, lest a call wait for ever.
            try? await Task.sleep(for: Duration.nanoseconds(max(0, deadline - clock.now())), clock: SuspendingClock())
        } catch {
            return
        }
        let now = clock.now()
        perform(machine.withLock { $0.alarmWentOff(number, now: now) })
    }
}
