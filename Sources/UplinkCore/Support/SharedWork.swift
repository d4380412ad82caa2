// SPDX-License-Identifier: Apache-2.0
/// Work that is done once for all callers that want it at the same time.
///
/// It runs in a task of its own, where the caller that began it prefers to: each waiting caller can be cancelled
/// separately, and the cancellation of the last one ends the work. Nobody is resumed while a lock is held.
///
/// A performer call inside the work uses the slot of the operation that started the work, if there is one, and
/// otherwise needs a slot of its own. An operation that holds the performer's only slot and joins work started
/// elsewhere therefore deadlocks with it.
package final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Machine = SharedWorkMachine<Key, Value, CheckedContinuation<Void, Never>, Task<Void, Never>>

    private let machine = Locked(Machine())

    /// Makes shared work with nothing under way.
    package init() {}

    /// Whether nothing is under way; for tests.
    package var isIdle: Bool { machine.withLock { $0.isEmpty } }
    /// The number of waiting callers; for tests.
    package var waiting: Int { machine.withLock { $0.count } }

    /// Returns the value of the work that is under way for the key, or else of `work`.
    ///
    /// - Throws: Whatever the work throws, or `CancellationError` as soon as the caller's task is cancelled.
    package func value(for key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try Task.checkCancellation()
        let (place, isFirst) = machine.withLock { $0.join(key) }
        if isFirst { start(work, at: place) }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if !machine.withLock({ $0.park(place, continuation) }) { continuation.resume() }
            }
        } onCancel: {
            let (waiter, work) = machine.withLock { $0.leave(place) }
            work?.cancel()
            waiter?.resume()
        }
        guard let result = machine.withLock({ $0.take(place) }) else { throw CancellationError() }
        return try result.get()
    }

    /// Ends what is under way for the keys that `error` has an error for: its callers get that, and the work is
    /// cancelled.
    package func end(_ error: (Key) -> (any Error)?) {
        let (waiters, work) = machine.withLock { $0.end(error) }
        for task in work { task.cancel() }
        for waiter in waiters { waiter.resume() }
    }

    private func start(_ work: @escaping @Sendable () async throws -> Value, at place: Machine.Place) {
        let task = Task(name: "shared work", executorPreference: preferredExecutor) { [self] in
            let result: Result<Value, any Error>
            do {
                // The deadline of the first caller does not apply to the others.
                result = .success(try await OperationDeadline.$ofTask.withValue(nil) { try await work() })
            } catch {
                result = .failure(error)
            }
            for waiter in machine.withLock({ $0.finished(place, result) }) { waiter.resume() }
        }
        machine.withLock { $0.started(task, for: place) }?.cancel()
    }
}
