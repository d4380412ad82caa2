// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The terminal as a shell shares it out to its jobs, of which one is in the foreground.
enum JobControl {
    /// Waits, stopped, until the program is in the foreground, as every program that changes a terminal from the
    /// background does (SIGTTOU, termios(3)).
    ///
    /// - Returns: Whether it is, or needs not be; otherwise nobody could resume it, and `errno` is set.
    /// - Throws: `CancellationError` if what let it go on was a signal that ends it (`kill %1`).
    static func comeToForeground(on terminal: CInt) throws(CancellationError) -> Bool {
        while isInBackground(of: terminal), isShellsJob {
            stop(by: SIGTTOU)
            usleep(50_000)  // the loop hears of the signal meanwhile
            if Interruption.hasBegun { throw CancellationError() }
        }
        // The kernel stops no program for a thread that blocks the signal, as most of this program's do.
        return unblocking(SIGTTOU) {
            tcflow(terminal, TCOON) == 0  // changes nothing, and is checked all the same
        }
    }

    /// Stops the program as the signal does where nothing has taken it over: where no shell could resume it, not at
    /// all. Returns when it goes on.
    static func stop(by signal: CInt = SIGTSTP) {
        var (plain, before) = (sigaction(), sigaction())
        plain.__sigaction_handler.sa_handler = SIG_DFL
        guard sigaction(signal, &plain, &before) == 0 else { return }
        defer { sigaction(signal, &before, nil) }
        unblocking(signal) { _ = pthread_kill(pthread_self(), signal) }
    }

    /// Whether the program was started by a shell that can resume it, and not on behalf of another one.
    private static var isShellsJob: Bool {
        let parent = getppid()
        return getsid(parent) == getsid(0) && getpgid(parent) != getpgrp()
    }

    private static func unblocking<Value>(_ signal: CInt, _ body: () -> Value) -> Value {
        var (signals, before) = (sigset_t(), sigset_t())
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        pthread_sigmask(SIG_UNBLOCK, &signals, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return body()
    }

    /// Whether the terminal is another job's by now.
    static func isInBackground(of terminal: CInt) -> Bool {
        let foreground = tcgetpgrp(terminal)
        return foreground > 0 && foreground != getpgrp()
    }
}
