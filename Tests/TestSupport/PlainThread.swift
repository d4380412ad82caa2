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
