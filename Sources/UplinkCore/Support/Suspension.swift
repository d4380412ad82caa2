// SPDX-License-Identifier: Apache-2.0

/// A task that has suspended and is resumed once: a checked continuation, as an object.
///
/// The size of a `CheckedContinuation` is only known at run time, so any value that contains one, directly or
/// indirectly, is copied and destroyed by calls into the runtime.
package final class Suspension: Sendable {
    private let continuation: CheckedContinuation<Void, Never>

    /// Borrows the continuation; otherwise a suspended task would have room for one more copy.
    package init(_ continuation: borrowing CheckedContinuation<Void, Never>) { self.continuation = copy continuation }

    /// Resumes the task. Must not be called with a lock held or in a C frame.
    package func resume() { continuation.resume() }
}
