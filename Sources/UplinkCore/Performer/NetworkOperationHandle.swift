// SPDX-License-Identifier: Apache-2.0

/// An operation that was started from code that is not async.
///
/// A value of which any number of copies may be kept, or none: to drop it neither cancels the operation nor leaks.
public struct NetworkOperationHandle<Value: Sendable>: Sendable {
    private let task: Task<Result<Value, PerformFailure<any Error>>, Never>

    init(_ task: Task<Result<Value, PerformFailure<any Error>>, Never>) { self.task = task }

    /// The outcome as a value, as soon as there is one; see
    /// ``NetworkOperationPerformer/perform(withinSeconds:requiring:operation:)``.
    ///
    /// To cancel the task that waits here does not cancel the operation; ``cancel()`` does.
    public var outcome: Result<Value, PerformFailure<any Error>> {
        get async { await task.value }
    }

    /// The operation's value, as soon as there is one.
    ///
    /// To cancel the task that waits here does not cancel the operation; ``cancel()`` does.
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

    /// Cancels the wait or the operation. May be called from any thread, at any moment, any number of times; after the
    /// end it does nothing.
    ///
    /// An operation that has not begun then never runs. One that runs sees it as a task sees its cancellation.
    public func cancel() { task.cancel() }
}

extension NetworkOperationPerformer {
    /// Starts to wait up to `limit` for the network and then to run `operation`, and returns at once.
    ///
    /// For code that is not async. The limit is on the waiting alone and counts from this call, in which the operation
    /// also gets its place among those who wait.
    ///
    /// - Parameters:
    ///   - limit: Zero and negative: only if the network is there now. Beyond 292 years: no limit.
    ///   - requirement: What the operation needs of the network; asked for the first time before this returns.
    ///   - operation: Runs at most once, in a task of its own, which prefers the executor that the caller's task prefers.
    /// - Returns: The way to the outcome, and to cancel.
    @discardableResult
    public func start<Value: Sendable>(
        within limit: Duration, requiring requirement: NetworkRequirement = .internet,
        operation: @escaping @Sendable () async throws -> Value
    ) -> NetworkOperationHandle<Value> {
        let request = core.request(requirement, limit: TimeLimit(limit))
        let place = core.enter(request)
        if case .success(let call) = place { call.look(at: request.start) }
        let executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
        let task = Task(name: Task.name, executorPreference: executor) {
            [core] () async -> Result<Value, PerformFailure<any Error>> in
            switch await place.admitted() {
            case .success(let admission): return await core.outcome(of: operation, admission)
            case .failure(let refusal): return .failure(.notStarted(refusal.error))
            }
        }
        return NetworkOperationHandle(task)
    }
}
