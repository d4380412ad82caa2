// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a test waited for did not happen.
package struct TimeIsUp: Error, CustomStringConvertible {
    package let expectation: String

    package init(expectation: String) { self.expectation = expectation }

    package var description: String { "waited in vain for: \(expectation)" }
}

/// Waits until something outside of the test is so: another task has come so far, a program has written.
///
/// Yields at first, since another task may be all that is waited for, then looks every 5 ms.
///
/// - Throws: ``TimeIsUp`` after `limit`.
package nonisolated(nonsending) func eventually(
    within limit: Duration = .seconds(20), _ expectation: @autoclosure () -> String = "what the test expects",
    _ isSo: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    var looks = 0
    while try await !isSo() {
        guard ContinuousClock.now < deadline else { throw TimeIsUp(expectation: expectation()) }
        looks += 1
        if looks < 500 { await Task.yield() } else { try await Task.sleep(for: .milliseconds(5)) }
    }
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
