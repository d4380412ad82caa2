// SPDX-License-Identifier: Apache-2.0
package import CLibUV
import Glibc

/// The signals that threads of the library block: all that others send, so that the program's handlers run on the
/// program's threads.
package enum SignalMask {
    /// Runs `body` with these signals blocked in the calling thread; threads that it creates inherit that.
    static func withAllBlocked<Result>(_ body: () -> Result) -> Result {
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        // What a thread does to itself is handled on that thread or, if it blocks the signal, ends the process without
        // the handlers that would tell why (backtraces, sanitizers, crash reports).
        for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&all, signal) }
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return body()
    }

    /// Creates a thread on which these signals are blocked.
    ///
    /// - Returns: 0, or the error number; `body` does not run then.
    package static func spawn(
        named name: String, into thread: inout pthread_t, _ body: @escaping @Sendable () -> Void
    ) -> CInt {
        let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
        let status = withAllBlocked {
            pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().run()
                    return nil
                }, start.toOpaque())
        }
        if status != 0 { start.release() }
        return status
    }
}

/// The work of a new thread, as an object that one pointer can carry.
private final class ThreadStart: Sendable {
    private let name: String
    private let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    func run() {
        pthread_setname_np(pthread_self(), name)
        body()
    }
}
