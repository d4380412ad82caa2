// SPDX-License-Identifier: Apache-2.0

/// Runs an operation if the network is there, or as soon as it comes within a time limit, and otherwise never.
///
/// Every call has one outcome. An outcome that says "not started" means that the operation never ran; in all others it
/// ran once. Any number of calls may wait on one performer, each with its own limit, from any task or actor; they share
/// one subscription to the monitor and one timer. Those who wait are told in the order in which they came; each then
/// starts as soon as its own executor lets it, and they run at the same time. A call that finds the network there starts
/// at once.
///
/// When the network comes at the very moment at which the limit ends, the operation starts if the word of the network
/// was handled first. Losing the network while an operation runs does not disturb it, unless the call says `onLoss:`.
public final class NetworkOperationPerformer: NetworkOperationPerforming {
    let core: PerformerCore

    /// Makes a performer that listens to a monitor and measures its limits on a clock.
    ///
    /// - Parameters:
    ///   - monitor: It is subscribed to while calls wait, and at no other time.
    ///   - clock: A monotonic clock; a test passes one that it moves by hand.
    ///   - maximumRunning: How many operations may run at once; nil: any number. The others wait their turn, first come,
    ///     first served, within their own limits. A call made in an operation of the same performer runs on that
    ///     operation's slot, so that a limit of one cannot deadlock; the slot is free when all of these have ended. A call
    ///     from a detached task is not known to be made there, and needs a slot of its own. Less than one is an error of
    ///     every call (`invalidArgument`).
    public init<C: Clock>(
        monitor: any NetworkMonitor, clock: C, maximumRunning: Int? = nil
    ) where C.Duration == Duration {
        core = PerformerCore(monitor: monitor, clock: PerformerClock(clock), maximumRunning: maximumRunning)
    }

    /// Makes a performer that listens to a monitor and measures its limits on the system's monotonic clock.
    ///
    /// - Parameters:
    ///   - monitor: It is subscribed to while calls wait, and at no other time.
    ///   - maximumRunning: How many operations may run at once; nil: any number.
    public convenience init(monitor: any NetworkMonitor, maximumRunning: Int? = nil) {
        self.init(monitor: monitor, clock: SuspendingClock(), maximumRunning: maximumRunning)
    }

    /// A performer around a core that was made otherwise.
    init(_ core: PerformerCore) { self.core = core }

    /// How many calls the performer has now, and what became of those it had. May be read from any thread.
    public var statistics: PerformerStatistics { core.statistics }

    /// What the performer holds, for tests.
    package var census: PerformerCensus { core.census }

    /// Waits up to `seconds` for the network, then runs `operation` in the caller's task; the outcome is a value.
    ///
    /// The limit is on the waiting alone and counts from the call. Nothing has to be `Sendable`: the operation runs
    /// where the caller runs. When the network is known to be there, the operation starts without a suspension.
    ///
    /// - Parameters:
    ///   - seconds: Fractions count exactly. Zero and negative: only if the network is there now. Infinity: no limit.
    ///   - requirement: What the operation needs of the network.
    ///   - operation: Runs at most once.
    /// - Returns: The operation's value; ``PerformFailure/notStarted(_:)`` when it never ran, with the code
    ///   `timedOut`, `cancelled`, `stopped`, `monitorFailed`, or `invalidArgument`, as when `seconds` is not a number;
    ///   ``PerformFailure/operation(_:)`` with the operation's own error.
    public nonisolated(nonsending) func perform<Value, Failure: Error>(
        withinSeconds seconds: Double, requiring requirement: NetworkRequirement,
        operation: nonisolated(nonsending) () async throws(Failure) -> Value
    ) async -> Result<Value, PerformFailure<Failure>> {
        guard let limit = TimeLimit(seconds: seconds) else { return .failure(.notStarted(.invalidArgument)) }
        switch await core.enter(requirement, limit: limit).admitted() {
        case .failure(let refusal): return .failure(.notStarted(refusal.error))
        case .success(let admission): return await core.outcome(of: operation, admission)
        }
    }

    /// Waits up to `limit` for the network, then runs `operation` in the caller's task.
    ///
    /// The limit is on the waiting alone and counts from the call. Nothing has to be `Sendable`: the operation runs
    /// where the caller runs. When the network is known to be there, the operation starts without a suspension.
    ///
    /// - Parameters:
    ///   - limit: Zero and negative: only if the network is there now. Beyond 292 years: no limit.
    ///   - requirement: What the operation needs of the network.
    ///   - operation: Runs at most once.
    /// - Throws: ``NetworkOperationError`` when the operation never ran, `CancellationError` when that was because the
    ///   task was cancelled, or the operation's own error, unchanged. An operation that itself performs may throw the
    ///   same types: ``perform(withinSeconds:requiring:operation:)`` tells them apart.
    public nonisolated(nonsending) func perform<Value>(
        within limit: Duration, requiring requirement: NetworkRequirement,
        operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        switch await core.enter(requirement, limit: TimeLimit(limit)).admitted() {
        case .success(let admission): return try await core.run(admission, operation)
        case .failure(let refusal): throw refusal.error.thrown
        }
    }

    /// Waits for the network and runs `operation`, both under one deadline, `limit` from now.
    ///
    /// The operation runs in a task of its own, which prefers the executor that the caller's task prefers. At the
    /// deadline that task is cancelled and waited for: a value that the operation returns all the same is delivered,
    /// late, and nothing it returned is ever dropped (as in SE-0526). The operation can read
    /// ``OperationDeadline/current`` to see what time is left.
    ///
    /// - Parameters:
    ///   - limit: Zero and negative: only if the network is there now. Beyond 292 years: no limit.
    ///   - requirement: What the operation needs of the network.
    ///   - operation: Runs at most once.
    /// - Throws: ``NetworkOperationError`` with the code `timedOut`, `stopped`, `monitorFailed` or `invalidArgument` when
    ///   the operation never ran, `deadlineExceeded` when it threw after the deadline had cancelled it;
    ///   `CancellationError` when the caller was cancelled before the start; or the operation's own error, unchanged.
    public nonisolated(nonsending) func perform<Value: Sendable>(
        completingWithin limit: Duration, requiring requirement: NetworkRequirement,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await perform(completingWithin: limit, requiring: requirement, onLoss: .leave, operation: operation)
    }

    /// Waits for the network and runs `operation`, both under one deadline, `seconds` from now.
    ///
    /// This is ``perform(completingWithin:requiring:operation:)`` for an operation without a value, which is cancelled
    /// at the deadline and waited for. Since it cannot throw, it is a success whenever it ran.
    ///
    /// - Parameters:
    ///   - operation: Runs at most once.
    ///   - seconds: Fractions count exactly. Zero and negative: only if the network is there now. Infinity: no limit.
    /// - Throws: ``NetworkOperationError`` when the operation never ran, `CancellationError` when that was because the
    ///   task was cancelled.
    public nonisolated(nonsending) func performNetworkOperation(
        using operation: @escaping @Sendable () async -> Void, withinSeconds seconds: Double
    ) async throws {
        guard let limit = TimeLimit(seconds: seconds) else { throw NetworkOperationError.invalidArgument }
        let request = core.request(.internet, limit: limit, isSupervised: true)
        try await core.supervise(request, reaction: .leave, operation).result.get()
    }
}
