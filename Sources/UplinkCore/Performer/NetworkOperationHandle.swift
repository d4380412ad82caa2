// SPDX-License-Identifier: Apache-2.0

/// An operation started from code that is not async.
///
/// Keep any number of copies, or none: dropping the handle neither cancels the operation nor leaks.
public struct NetworkOperationHandle<Value: Sendable>: Sendable {
    private let task: Task<Result<Value, PerformFailure<any Error>>, Never>

    init(_ task: Task<Result<Value, PerformFailure<any Error>>, Never>) { self.task = task }

    /// The outcome as a value, as soon as it is known; see
    /// ``NetworkOperationPerformer/perform(withinSeconds:requiring:operation:)``.
    ///
    /// Cancelling the task that waits here does not cancel the operation; ``cancel()`` does.
    public var outcome: Result<Value, PerformFailure<any Error>> {
        get async { await task.value }
    }

    /// The operation's value, as soon as it is known.
    ///
    /// Cancelling the task that waits here does not cancel the operation; ``cancel()`` does.
    ///
    /// - Throws: ``NetworkOperationError`` when the operation never ran, `CancellationError` when that was because of
    ///   ``cancel()``, or the operation's own error, unchanged.
    public var value: Value {
        get async throws {
            switch await task.value {
            case .success(let value): return value
            case .failure(.notStarted(let error)): throw error.thrown
            case .failure(.operation(let error)): throw error
            }
        }
    }

    /// Cancels the wait or the operation. May be called from any thread, at any time and any number of times; after the
    /// end it has no effect.
    ///
    /// An operation that has not started yet never runs. A running one sees the cancellation as any task sees its own.
    public func cancel() { task.cancel() }
}

extension NetworkOperationPerformer {
    /// Waits up to `limit` for the network and then runs `operation`, in the background; returns immediately.
    ///
    /// For code that is not async. The limit applies only to the wait, and counts from this call. The operation also
    /// takes its place among the waiting calls during this call.
    ///
    /// - Parameters:
    ///   - limit: Zero and negative: only if the network is available now. Beyond 292 years: no limit.
    ///   - requirement: What the operation needs of the network; first checked before this returns.
    ///   - operation: Runs at most once, in a task of its own, which has the executor preference of the caller's task.
    /// - Returns: A handle for the outcome and for cancelling.
    @discardableResult
    public func start<Value: Sendable>(
        within limit: Duration, requiring requirement: NetworkRequirement = .internet,
        operation: @escaping @Sendable () async throws -> Value
    ) -> NetworkOperationHandle<Value> {
        let request = core.request(requirement, limit: TimeLimit(limit))
        let place = core.enter(request)
        if case .success(let call) = place { call.look(at: request.start) }
        let task = Task(name: Task.name, executorPreference: preferredExecutor) {
            [core] () async -> Result<Value, PerformFailure<any Error>> in
            switch await place.admitted() {
            case .success(let admission): return await core.outcome(of: operation, admission)
            case .failure(let refusal): return .failure(.notStarted(refusal.error))
            }
        }
        return NetworkOperationHandle(task)
    }
}
