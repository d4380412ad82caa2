// SPDX-License-Identifier: Apache-2.0

// Operations in tasks of their own, which can be cancelled separately.

extension PerformerCore {
    /// Waits for the network and runs the operation, again if the reaction to a loss says so.
    nonisolated(nonsending) func supervise<Value: Sendable>(
        _ request: Request, reaction: NetworkLossReaction, _ operation: @escaping @Sendable () async throws -> Value
    ) async -> PerformReport<Value> {
        if let policy = reaction.policy, policy.maximumAttempts < 1 {
            return PerformReport(result: .failure(NetworkOperationError.invalidMaximumAttempts), attempts: [])
        }
        var (request, attempts) = (request, [PerformAttempt]())
        var waitStart = request.start
        while true {
            let admission: Admission
            switch await enterUnlessCancelled(request).admitted() {
            case .success(let admitted): admission = admitted
            case .failure(let refusal):
                return PerformReport(result: .failure(refusal.error.afterAttempts(attempts)), attempts: attempts)
            }
            let start = clock.now()
            let (result, ending) = await attempt(admission, until: request.operationDeadline, operation)
            let end = clock.now()
            let failure = result.failure
            attempts.append(
                PerformAttempt(
                    waited: .nanoseconds(start - waitStart), ran: .nanoseconds(end - start),
                    lostNetwork: ending == .lost, error: failure))
            guard let failure else { return PerformReport(result: result, attempts: attempts) }
            guard let next = nextStart(after: failure, ending, attempts.count, reaction.policy, now: end),
                next <= request.deadline
            else {
                return PerformReport(
                    result: .failure(ending.error(for: failure, runs: attempts.count)), attempts: attempts)
            }
            (request.start, request.notBefore, waitStart) = (end, next, end)
        }
    }

    /// The earliest time at which the operation may run again; nil if it may not.
    private func nextStart(
        after failure: any Error, _ ending: PerformerMachine.Ending, _ attempts: Int, _ policy: RetryPolicy?,
        now: Int64
    ) -> Int64? {
        guard let policy, attempts < policy.maximumAttempts, !Task.isCancelled else { return nil }
        switch ending {
        case .overdue: return nil
        case .lost: break
        case .undisturbed: if !policy.isNetworkFailure(failure) { return nil }
        }
        let (next, isTooLarge) = now.addingReportingOverflow(policy.pause(after: attempts))
        return isTooLarge ? nil : next
    }

    /// Runs an admitted operation in a task of its own, which is cancelled by the deadline, the loss of the network or
    /// the caller's cancellation.
    private nonisolated(nonsending) func attempt<Value: Sendable>(
        _ admission: Admission, until end: Int64, _ operation: @escaping @Sendable () async throws -> Value
    ) async -> (Result<Value, any Error>, PerformerMachine.Ending) {
        let deadline = OperationDeadline(nanoseconds: end, now: clock.now, outer: .current)
        let task = Task(name: Task.name, executorPreference: preferredExecutor) {
            let result: Result<Value, any Error> = await self.holding(admission.slot) {
                defer { deadline.end() }
                do {
                    return .success(try await OperationDeadline.$ofTask.withValue(deadline) { try await operation() })
                } catch {
                    return .failure(error)
                }
            }
            // Done here, not when the caller resumes: what happens after the operation's end is not its doing.
            return (result, self.finish(admission.id))
        }
        perform(machine.withLock { $0.run(admission.id) { task.cancel() } })
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            perform(machine.withLock { $0.cancel(admission.id) })
        }
    }
}

extension PerformerMachine.Ending {
    /// The error that the caller gets for one that the operation threw.
    fileprivate func error(for failure: any Error, runs: Int) -> any Error {
        switch self {
        case .undisturbed: failure
        case .overdue: NetworkOperationError.deadlineExceeded(failure)
        case .lost: NetworkOperationError.networkLost(failure, runs: runs)
        }
    }
}

extension NetworkOperationError {
    /// The error that the throwing forms throw: they report a cancellation as Swift does.
    var thrown: any Error { code == .cancelled ? CancellationError() : self }

    /// After an attempt, an error that says "the operation never ran" is no longer true: it is the operation's own
    /// error or, if the network was lost under it, that.
    fileprivate func afterAttempts(_ attempts: [PerformAttempt]) -> any Error {
        guard code != .cancelled, let last = attempts.last, let failure = last.error else { return thrown }
        return last.lostNetwork ? Self.networkLost(failure, because: self) : failure
    }
}

extension Result {
    fileprivate var failure: Failure? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }
}
