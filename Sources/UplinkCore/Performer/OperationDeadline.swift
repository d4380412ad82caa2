// SPDX-License-Identifier: Apache-2.0

/// When a supervised operation's time is over, as the operation itself can see it, to hand on what is left.
///
/// ```swift
/// try await performer.perform(completingWithin: .seconds(10)) {
///     try await load(timeout: OperationDeadline.current?.remaining)
/// }
/// ```
public struct OperationDeadline: Sendable {
    /// The deadline of the operation that the current task runs in; nil outside of supervised operations, also in a task
    /// that an operation made and that outlives it.
    public static var current: OperationDeadline? {
        guard let ofTask else { return nil }
        return ofTask.operation.isRunning ? ofTask : Self(runningOf: ofTask.around)
    }

    /// Bound by the performer alone: a public task-local could be bound by anybody, to a deadline that nothing keeps.
    @TaskLocal static var ofTask: OperationDeadline?

    private let operation: Operation
    /// The operations around this one that ran when it began, the innermost last. A list, since operations that each begin
    /// the next one in a task of its own would make an endless chain.
    private let around: [Operation]

    init(nanoseconds: Int64, now: @escaping @Sendable () -> Int64, outer: OperationDeadline?) {
        operation = Operation(nanoseconds, now)
        around = outer.map { $0.around.filter(\.isRunning) + [$0.operation] } ?? []
    }

    /// The innermost of those operations that run still.
    private init?(runningOf operations: [Operation]) {
        var running = operations.filter(\.isRunning)
        guard let innermost = running.popLast() else { return nil }
        (operation, around) = (innermost, running)
    }

    /// The operation has ended: tasks that it leaves behind are in it no longer.
    func end() { operation.hasEnded.withLock { $0 = true } }

    /// The time that is left on the performer's clock: zero once the deadline has passed, nil if there is no limit.
    ///
    /// An operation within another one has no more time than that.
    public var remaining: Duration? {
        ([operation] + around.filter(\.isRunning)).compactMap(\.remaining).min()
    }

    /// One operation; those around it may be timed by another clock.
    private final class Operation: Sendable {
        let hasEnded = Locked(false)
        private let nanoseconds: Int64
        private let now: @Sendable () -> Int64

        init(_ nanoseconds: Int64, _ now: @escaping @Sendable () -> Int64) {
            (self.nanoseconds, self.now) = (nanoseconds, now)
        }

        var isRunning: Bool { !hasEnded.withLock { $0 } }

        var remaining: Duration? {
            guard nanoseconds != .max else { return nil }
            let (difference, isTooLarge) = nanoseconds.subtractingReportingOverflow(now())
            return .nanoseconds(isTooLarge ? .max : max(0, difference))
        }
    }
}
