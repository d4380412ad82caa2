// SPDX-License-Identifier: Apache-2.0

/// A task that has suspended, and is resumed once: a checked continuation, as an object.
///
/// The size of a `CheckedContinuation` is known at run time alone, so that whatever holds one as a value, or holds what
/// holds one, is copied and destroyed by calls into the runtime.
package final class Suspension: Sendable {
    private let continuation: CheckedContinuation<Void, Never>

    /// Borrows it, or a suspended task would have room for one more copy.
    package init(_ continuation: borrowing CheckedContinuation<Void, Never>) { self.continuation = copy continuation }

    /// Lets the task go on. Neither with a lock held nor in a C frame.
    package func resume() { continuation.resume() }
}
