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
    @TaskLocal public static var current: OperationDeadline?

    private let nanoseconds: Int64
    private let now: @Sendable () -> Int64

    init(nanoseconds: Int64, now: @escaping @Sendable () -> Int64) {
        self.nanoseconds = nanoseconds
        self.now = now
    }

    /// The time that is left on the performer's clock: zero once the deadline has passed, nil if there is no limit.
    public var remaining: Duration? {
        nanoseconds == .max ? nil : .nanoseconds(max(0, nanoseconds - now()))
    }
}
