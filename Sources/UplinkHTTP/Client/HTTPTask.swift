// SPDX-License-Identifier: Apache-2.0

/// A request started from code that is not async.
///
/// Keep any number of copies, or none: dropping the task neither cancels the request nor leaks.
public struct HTTPTask: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    /// Cancels the request. May be called from any thread, at any time and any number of times; after the end it has no
    /// effect.
    ///
    /// The completion gets `CancellationError`, unless the response was already complete.
    public func cancel() { task.cancel() }
}
