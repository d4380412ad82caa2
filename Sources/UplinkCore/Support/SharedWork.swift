// SPDX-License-Identifier: Apache-2.0
/// Work that is done once for all who want it at the same time.
///
/// It runs in a task of its own: who waits may be cancelled alone, and the last one's cancellation ends it. No lock is
/// held where anybody is resumed.
///
/// It performs on the slot of the operation that began it, if one did, and needs one of its own otherwise: an operation that
/// holds the performer's only slot and joins work that was begun outside waits then for what waits for it.
package final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Machine = SharedWorkMachine<Key, Value, CheckedContinuation<Void, Never>, Task<Void, Never>>

    private let machine = Locked(Machine())

    /// Nothing is under way yet.
    package init() {}

    /// Whether nothing is under way; for tests.
    package var isIdle: Bool { machine.withLock { $0.isEmpty } }
    /// How many wait; for tests.
    package var waiting: Int { machine.withLock { $0.count } }

    /// The value of the work that is under way for the key, or of `work`.
    ///
    /// - Throws: What the work throws, or `CancellationError` as soon as the caller's task is cancelled.
    package func value(for key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
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

    private func start(_ work: @escaping @Sendable () async throws -> Value, at place: Machine.Place) {
        let task = Task {
            let result: Result<Value, any Error>
            do {
                // The first one's, which the others need not keep to.
                result = .success(try await OperationDeadline.$ofTask.withValue(nil) { try await work() })
            } catch {
                result = .failure(error)
            }
            for waiter in machine.withLock({ $0.finished(place, result) }) { waiter.resume() }
        }
        machine.withLock { $0.started(task, for: place) }?.cancel()
    }
}
