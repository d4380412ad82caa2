// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a test waited for did not happen.
package struct TimeIsUp: Error, CustomStringConvertible {
    package let expectation: String

    package init(expectation: String) { self.expectation = expectation }

    package var description: String { "waited in vain for: \(expectation)" }
}

/// Waits until something outside of the test is so: a program has written, a file is there. Looks every 5 ms.
///
/// - Throws: ``TimeIsUp`` after `limit`.
package nonisolated(nonsending) func eventually(
    within limit: Duration = .seconds(20), _ expectation: @autoclosure () -> String,
    _ isSo: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !isSo() {
        guard ContinuousClock.now < deadline else { throw TimeIsUp(expectation: expectation()) }
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// Runs blocking work on a thread of its own.
package func detachThread(_ work: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }
    var thread = pthread_t()
    let status = pthread_create(
        &thread, nil,
        { argument in
            guard let argument else { return nil }
            Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().work()
            return nil
        }, Unmanaged.passRetained(Box(work)).toOpaque())
    precondition(status == 0, "pthread_create: \(status)")
    pthread_detach(thread)
}
