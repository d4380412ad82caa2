// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The terminal as a shell shares it out to its jobs, of which one is in the foreground.
enum JobControl {
    /// Waits, stopped, until the program is in the foreground, as every program that changes a terminal from the
    /// background does (SIGTTOU, termios(3)).
    ///
    /// - Returns: Whether it is, or needs not be; otherwise nobody could resume it, and `errno` is set.
    static func comeToForeground(on terminal: CInt) -> Bool {
        var (signal, before) = (sigset_t(), sigset_t())
        sigemptyset(&signal)
        sigaddset(&signal, SIGTTOU)
        // The kernel stops no program for a thread that blocks the signal, as most of this program's do.
        pthread_sigmask(SIG_UNBLOCK, &signal, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return tcflow(terminal, TCOON) == 0  // changes nothing, and is checked all the same
    }

    /// Whether the terminal is another job's by now.
    static func isInBackground(of terminal: CInt) -> Bool {
        let foreground = tcgetpgrp(terminal)
        return foreground > 0 && foreground != getpgrp()
    }
}
