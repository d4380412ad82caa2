// SPDX-License-Identifier: Apache-2.0
import Glibc

// The test kit's own wait is that of all our tests.
@_exported public import func UplinkTesting.eventually

/// Something that a test needs is not there. (What does not come in time is a `WaitedInVain`.)
package struct Missing: Error, CustomStringConvertible {
    private let what: String

    package init(_ what: String) { self.what = what }

    package var description: String { "there is no \(what)" }
}

/// Runs blocking work on a thread of its own.
package func detachThread(_ work: @escaping @Sendable () -> Void) { PlainThread(work).detach() }

/// Does blocking work on a thread of its own and waits for it without holding up a thread of the pool, of which there may
/// be two: a test that measures time beside this one needs them.
package nonisolated(nonsending) func offPool<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        detachThread { continuation.resume(with: .init(catching: work)) }
    }
}
