// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// The signal settings that the program was started with, for the program that `uplink run` becomes.
enum InheritedSignals {
    private static let saved = Locked<(pipe: sigaction, mask: sigset_t)?>(nil)

    /// Remembers the settings, then ignores SIGPIPE: a reader or a server that goes away is an error, not the end.
    static func remember() {
        var (pipe, mask, ignored) = (sigaction(), sigset_t(), sigaction())
        ignored.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(SIGPIPE, &ignored, &pipe)
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        let settings = (pipe, mask)
        saved.withLock { $0 = settings }
    }

    /// Restores the settings, for the calling thread and what it executes.
    static func restore() {
        guard var settings = saved.withLock({ $0 }) else { return }
        sigaction(SIGPIPE, &settings.pipe, nil)
        pthread_sigmask(SIG_SETMASK, &settings.mask, nil)
    }
}
