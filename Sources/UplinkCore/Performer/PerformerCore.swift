// SPDX-License-Identifier: Apache-2.0

/// The performer's shell: it passes calls to the state machine and carries out the machine's actions.
final class PerformerCore: Sendable {
    let monitor: any NetworkMonitor
    let clock: PerformerClock
    let machine: Locked<PerformerMachine>
    /// Where the performer's own tasks run; nil except in simulations.
    let executor: (any TaskExecutor)?
    /// The reason why no operation will ever run, if there is one.
    private let fault: NetworkOperationError?
    /// Whether a call may have to wait for the end of another operation.
    let isLimited: Bool

    init(
        monitor: any NetworkMonitor, clock: PerformerClock, maximumRunning: Int?, executor: (any TaskExecutor)? = nil
    ) {
        (self.monitor, self.clock, self.executor) = (monitor, clock, executor)
        machine = Locked(PerformerMachine(maximumRunning: maximumRunning))
        isLimited = maximumRunning != nil
        fault = maximumRunning.map { $0 < 1 } == true ? .invalidMaximumRunning : nil
    }

    var statistics: PerformerStatistics { machine.withLock { $0.statistics } }
    var census: PerformerCensus { machine.withLock { $0.census } }

    /// A call that may run its operation now, and must.
    struct Admission {
        let id: PerformerMachine.ID
        /// The slot it runs in; nil if any number may run at the same time.
        let slot: PerformerMachine.Slot?
    }

    /// What a call asks for.
    struct Request {
        let requirement: NetworkRequirement
        /// When the waiting begins.
        var start: Int64
        let deadline: Int64
        /// Whether the deadline also applies to the operation.
        var isSupervised = false
        /// Whether the operation is cancelled when the network is lost.
        var watchesLoss = false
        /// The operation does not start earlier than this.
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

    /// Gives a call its place, with its time counting from now, unless its task is cancelled.
    @inline(never)
    func enter(_ requirement: NetworkRequirement, limit: TimeLimit) -> Result<PerformerCall, PerformerCall.Refusal> {
        enterUnlessCancelled(request(requirement, limit: limit))
    }

    /// Gives a call its place, unless its task is cancelled.
    @inline(never)
    func enterUnlessCancelled(_ request: Request) -> Result<PerformerCall, PerformerCall.Refusal> {
        guard Task.isCancelled else { return enter(request) }
        machine.withLock { $0.note(.cancelled) }
        return .failure(.init(.cancelled))
    }

    /// Gives a call its place.
    func enter(_ request: Request) -> Result<PerformerCall, PerformerCall.Refusal> {
        if let fault { return .failure(.init(fault)) }
        let parent = HeldSlot.current(of: self)
        let graceEnd = graceEnd(from: request.start)
        let id = machine.withLock {
            $0.enter(
                requirement: request.requirement, deadline: request.deadline, graceEnd: graceEnd,
                isSupervised: request.isSupervised, watchesLoss: request.watchesLoss, notBefore: request.notBefore,
                parent: parent)
        }
        return .success(PerformerCall(id, of: self))
    }

    /// How long a call waits for a monitor's first path, whatever its own limit.
    func graceEnd(from now: Int64) -> Int64 { TimeLimit(monitor.timeToFirstPath).deadline(from: now) }

    /// Runs an admitted operation in the caller's task.
    nonisolated(nonsending) func run<Value, Failure: Error>(
        _ admission: Admission, _ operation: nonisolated(nonsending) () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        defer { _ = finish(admission.id) }
        return try await holding(admission.slot, operation)
    }

    /// Runs an admitted operation in the caller's task; its outcome is a value.
    nonisolated(nonsending) func outcome<Value, Failure: Error>(
        of operation: nonisolated(nonsending) () async throws(Failure) -> Value, _ admission: Admission
    ) async -> Result<Value, PerformFailure<Failure>> {
        do throws(Failure) {
            return .success(try await run(admission, operation))
        } catch {
            return .failure(.operation(error))
        }
    }

    /// Lets calls made inside `body` use the slot.
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

    /// Whether a slot has not been given back.
    func isTaken(_ slot: PerformerMachine.Slot) -> Bool { machine.withLock { $0.slots[slot] != nil } }

    /// Ends a call whose operation has ended.
    func finish(_ id: PerformerMachine.ID) -> PerformerMachine.Ending {
        let now = isLimited ? clock.now() : .min
        let (ending, actions) = machine.withLock { $0.finish(id, now: now) }
        perform(actions)
        return ending
    }
}
