// SPDX-License-Identifier: Apache-2.0

/// Runs an operation as soon as the network is available, within a time limit; otherwise the operation never runs.
///
/// Every call has one outcome. "Not started" means that the operation never ran; every other outcome means that it ran,
/// and only once unless the call asked for retries. Any number of calls may wait on one performer, each with its own
/// limit, from any task or actor; they share one subscription to the monitor and one timer. Waiting calls are resumed
/// in order of arrival; each starts as soon as its executor runs it, and they run concurrently. If the network is
/// already available, a call starts immediately.
///
/// If the network appears at the very moment the limit ends, the operation starts if the path was processed first.
/// Losing the network while an operation runs does not disturb it, unless the call says `onLoss:`.
public final class NetworkOperationPerformer: NetworkOperationPerforming {
    let core: PerformerCore

    /// Makes a performer that uses a monitor and measures its limits on a clock.
    ///
    /// - Parameters:
    ///   - monitor: Subscribed to only while calls wait, or while an operation runs that reacts to the loss of the
    ///     network.
    ///   - clock: A monotonic clock; a test can pass one that it moves by hand.
    ///   - maximumRunning: How many operations may run at the same time; nil: any number. Further calls wait for a slot
    ///     in order of arrival, within their own limits. A call made inside an operation of the same performer uses
    ///     that operation's slot, so nesting cannot deadlock; the slot is free again when all of them have ended. A
    ///     call from a detached task is not recognised as nested and needs a slot of its own. Waiting inside an
    ///     operation for work that was started elsewhere (a shared sync, a token refresh) can still deadlock, until a
    ///     time limit ends it: give `maximumRunning` room. Less than one makes every call fail with `invalidArgument`.
    public init<C: Clock>(
        monitor: any NetworkMonitor, clock: C, maximumRunning: Int? = nil
    ) where C.Duration == Duration {
        core = PerformerCore(monitor: monitor, clock: PerformerClock(clock), maximumRunning: maximumRunning)
    }

    /// Makes a performer that uses a monitor and measures its limits on the system's monotonic clock.
    ///
    /// That clock (`CLOCK_MONOTONIC`) stands still while the system sleeps, and so do the limits: a call that had ten
    /// seconds left has them after the sleep. Pass a `ContinuousClock` to count the sleep too.
    ///
    /// - Parameters:
    ///   - monitor: Subscribed to only while calls wait, or while an operation runs that reacts to the loss of the
    ///     network.
    ///   - maximumRunning: How many operations may run at the same time; nil: any number.
    public convenience init(monitor: any NetworkMonitor, maximumRunning: Int? = nil) {
        let clock = (monitor as? any ClockedMonitor)?.clock ?? SuspendingClock()
        self.init(PerformerCore(monitor: monitor, clock: PerformerClock(clock), maximumRunning: maximumRunning))
    }

    /// Makes a performer around an existing core.
    init(_ core: PerformerCore) { self.core = core }

    /// The number of current calls, and the outcomes of earlier ones. May be read from any thread.
    public var statistics: PerformerStatistics { core.statistics }

    /// What the performer currently holds, for tests.
    package var census: PerformerCensus { core.census }

    /// Waits up to `seconds` for the network, then runs `operation` in the caller's task; the outcome is a value.
    ///
    /// The limit applies only to the wait, and counts from the call. Nothing has to be `Sendable`: the operation runs
    /// where the caller runs. When the network is known to be available, the operation starts without a suspension.
    ///
    /// - Parameters:
    ///   - seconds: Fractions count exactly. Zero and negative: only if the network is available now. Infinity: no
    ///     limit.
    ///   - requirement: What the operation needs of the network.
    ///   - operation: Runs at most once.
    /// - Returns: The operation's value; ``PerformFailure/notStarted(_:)`` when it never ran, with the code `timedOut`,
    ///   `cancelled`, `stopped`, `monitorFailed`, or `invalidArgument` (for example when `seconds` is not a number);
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
    /// The limit applies only to the wait, and counts from the call. Nothing has to be `Sendable`: the operation runs
    /// where the caller runs. When the network is known to be available, the operation starts without a suspension.
    ///
    /// - Parameters:
    ///   - limit: Zero and negative: only if the network is available now. Beyond 292 years: no limit.
    ///   - requirement: What the operation needs of the network.
    ///   - operation: Runs at most once.
    /// - Throws: ``NetworkOperationError`` when the operation never ran, `CancellationError` when that was because the
    ///   task was cancelled, or the operation's own error, unchanged. An operation that itself uses a performer may
    ///   throw the same types; ``perform(withinSeconds:requiring:operation:)`` tells them apart.
    public nonisolated(nonsending) func perform<Value>(
        within limit: Duration, requiring requirement: NetworkRequirement,
        operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        switch await core.enter(requirement, limit: TimeLimit(limit)).admitted() {
        case .success(let admission): return try await core.run(admission, operation)
        case .failure(let refusal): throw refusal.error.thrown
        }
    }

    /// Waits for the network and runs `operation`, both within one deadline, `limit` from now.
    ///
    /// The operation runs in a task of its own, which has the executor preference of the caller's task. At the deadline
    /// that task is cancelled and waited for. If the operation returns a value anyway, the value is delivered, late:
    /// nothing that it returns is ever dropped (as in SE-0526). The operation can read ``OperationDeadline/current`` to
    /// see how much time is left.
    ///
    /// - Parameters:
    ///   - limit: Zero and negative: only if the network is available now. Beyond 292 years: no limit.
    ///   - requirement: What the operation needs of the network.
    ///   - operation: Runs at most once.
    /// - Throws: ``NetworkOperationError`` with the code `timedOut`, `stopped`, `monitorFailed` or `invalidArgument`
    ///   when the operation never ran, `deadlineExceeded` when it threw after the deadline had cancelled it;
    ///   `CancellationError` when the caller was cancelled before the start; or the operation's own error, unchanged.
    public nonisolated(nonsending) func perform<Value: Sendable>(
        completingWithin limit: Duration, requiring requirement: NetworkRequirement,
        operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await perform(completingWithin: limit, requiring: requirement, onLoss: .leave, operation: operation)
    }

    /// Waits for the network and runs `operation`, both within one deadline, `seconds` from now.
    ///
    /// The form of ``perform(completingWithin:requiring:operation:)`` for an operation without a value, which is
    /// cancelled at the deadline and waited for. Since it cannot throw, the call succeeds whenever the operation ran.
    ///
    /// - Parameters:
    ///   - operation: Runs at most once.
    ///   - seconds: Fractions count exactly. Zero and negative: only if the network is available now. Infinity: no
    ///     limit.
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
