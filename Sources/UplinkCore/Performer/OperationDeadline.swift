// SPDX-License-Identifier: Apache-2.0

/// When a supervised operation's time is over, as the operation itself can see it, to hand on what is left.
///
/// ```swift
/// try await performer.perform(completingWithin: .seconds(10)) {
///     try await load(timeout: OperationDeadline.current?.remaining)
/// }
/// ```
public struct OperationDeadline: Sendable {
    /// The deadline of the operation that the current task runs in; nil outside of supervised operations.
    public static var current: OperationDeadline? { ofTask }

    /// Bound by the performer alone: a public task-local could be bound by anybody, to a deadline that nothing keeps.
    @TaskLocal static var ofTask: OperationDeadline?

    private let nanoseconds: Int64
    private let now: @Sendable () -> Int64
    /// What is left of the operation's around this one, which may be timed by another clock.
    private let outer: @Sendable () -> Duration?

    init(nanoseconds: Int64, now: @escaping @Sendable () -> Int64, outer: OperationDeadline?) {
        self.nanoseconds = nanoseconds
        self.now = now
        self.outer = { outer?.remaining }
    }

    /// The time that is left on the performer's clock: zero once the deadline has passed, nil if there is no limit.
    ///
    /// An operation within another one has no more time than that.
    public var remaining: Duration? {
        [own, outer()].compactMap { $0 }.min()
    }

    private var own: Duration? {
        guard nanoseconds != .max else { return nil }
        let (difference, isTooLarge) = nanoseconds.subtractingReportingOverflow(now())
        return .nanoseconds(isTooLarge ? .max : max(0, difference))
    }
}
