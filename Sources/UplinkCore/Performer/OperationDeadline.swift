// SPDX-License-Identifier: Apache-2.0

/// The end of a supervised operation's time, as the operation itself can see it to pass on what is left.
///
/// ```swift
/// try await performer.perform(completingWithin: .seconds(10)) {
///     try await load(timeout: OperationDeadline.current?.remaining)
/// }
/// ```
public struct OperationDeadline: Sendable {
    /// The deadline of the operation that the current task runs in. Nil outside supervised operations, and in a task
    /// that an operation started and that outlives it.
    public static var current: OperationDeadline? {
        guard let ofTask else { return nil }
        return ofTask.operation.isRunning ? ofTask : Self(runningOf: ofTask.around)
    }

    /// Only the performer and the test kit's stand-in bind it. A public task-local could be bound by anybody, to a
    /// deadline that nothing enforces.
    @TaskLocal static var ofTask: OperationDeadline?

    private let operation: Operation
    /// The operations around this one that were running when it began, the innermost last. A flat list, because
    /// operations that each start the next one in a task of its own would form an endless chain.
    private let around: [Operation]

    init(nanoseconds: Int64, now: @escaping @Sendable () -> Int64, outer: OperationDeadline?) {
        operation = Operation(nanoseconds, now)
        around = outer.map { $0.around.filter(\.isRunning) + [$0.operation] } ?? []
    }

    /// The innermost of these operations that is still running.
    private init?(runningOf operations: [Operation]) {
        var running = operations.filter(\.isRunning)
        guard let innermost = running.popLast() else { return nil }
        (operation, around) = (innermost, running)
    }

    /// Runs an operation of a stand-in for the performer with all of its limit left, as if no time passed.
    package nonisolated(nonsending) static func withAll<Value>(
        of limit: TimeLimit, _ operation: @Sendable () async throws -> Value
    ) async throws -> Value {
        let deadline = Self(nanoseconds: limit.deadline(from: 0), now: { 0 }, outer: current)
        defer { deadline.end() }
        return try await $ofTask.withValue(deadline) { try await operation() }
    }

    /// The operation has ended: tasks that it leaves behind no longer count as being in it.
    func end() { operation.end() }

    /// The time left on the performer's clock: zero once the deadline has passed or the operation has ended, nil if there
    /// is no limit.
    ///
    /// An operation inside another one never has more time left than that one.
    public var remaining: Duration? {
        ([operation] + around.filter(\.isRunning)).compactMap(\.remaining).min()
    }

    /// One operation; the operations around it may use another clock.
    private final class Operation: Sendable {
        private let nanoseconds: Int64
        /// The clock, until the operation ends: tasks that it leaves behind keep this object.
        private let clock: Locked<(@Sendable () -> Int64)?>

        init(_ nanoseconds: Int64, _ now: @escaping @Sendable () -> Int64) {
            (self.nanoseconds, clock) = (nanoseconds, Locked(now))
        }

        func end() {
            // Let go of outside the lock, because that may run others' code.
            _ = clock.withLock { clock in
                defer { clock = nil }
                return clock
            }
        }

        var isRunning: Bool { clock.withLock { $0 != nil } }

        var remaining: Duration? {
            guard nanoseconds != .max else { return nil }
            guard let now = clock.withLock({ $0 }) else { return .zero }
            let (difference, isTooLarge) = nanoseconds.subtractingReportingOverflow(now())
            return .nanoseconds(isTooLarge ? .max : max(0, difference))
        }
    }
}
