// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A thread that is no part of Swift's pool, as a C program has them. Join it or detach it, once.
package struct PlainThread: Sendable {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private let thread: pthread_t

    /// Starts it.
    package init(_ work: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(Body(work)).toOpaque())
        precondition(status == 0, "pthread_create: \(status)")
        self.thread = thread
    }

    /// Waits for its end.
    package func join() { pthread_join(thread, nil) }

    /// Lets it end when it likes.
    package func detach() { pthread_detach(thread) }
}

/// Runs blocking work on a thread of its own.
package func detachThread(_ work: @escaping @Sendable () -> Void) { PlainThread(work).detach() }

/// Does blocking work on a thread of its own and waits for it without holding up a thread of the pool, of which there
/// may be two: a test that measures time beside this one needs them.
package nonisolated(nonsending) func offPool<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        detachThread { continuation.resume(with: .init(catching: work)) }
    }
}
