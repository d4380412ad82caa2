// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// The signal settings that the program was started with, for the program that `uplink run` becomes.
enum InheritedSignals {
    private static let saved = Locked<(pipe: sigaction, mask: sigset_t, thread: pthread_t)?>(nil)

    /// The thread that handles signals, because all others block them.
    static var mainThread: pthread_t? { saved.withLock { $0?.thread } }

    /// Remembers the settings, then ignores SIGPIPE: a reader or a server that goes away is an error, not the end. The
    /// calling thread, which is the main thread, no longer blocks it, for ``Signals``.
    static func remember() {
        var (pipe, mask, ignored, one) = (sigaction(), sigset_t(), sigaction(), sigset_t())
        ignored.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(SIGPIPE, &ignored, &pipe)
        sigemptyset(&one)
        sigaddset(&one, SIGPIPE)
        pthread_sigmask(SIG_UNBLOCK, &one, &mask)
        let settings = (pipe, mask, pthread_self())
        saved.withLock { $0 = settings }
    }

    /// Restores the settings, for the calling thread and what it executes.
    static func restore() {
        guard var settings = saved.withLock({ $0 }) else { return }
        sigaction(SIGPIPE, &settings.pipe, nil)
        pthread_sigmask(SIG_SETMASK, &settings.mask, nil)
    }
}
