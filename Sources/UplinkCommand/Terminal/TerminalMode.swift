// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// The terminal's settings while a screen is shown: keys delivered immediately and without echo, the alternate screen,
/// no cursor, lines cut instead of wrapped, and bracketed pastes.
enum TerminalMode {
    private static let state = Locked(State())

    private struct State {
        /// The terminal's own settings, while a screen is shown.
        var saved: termios?
        /// Whether another program has the terminal.
        var isSuspended = false
        /// How often the screen was entered. What was drawn before the last time is gone.
        var entries = 0
    }

    // Both first end a picture that was cut off, which would swallow the rest.
    private static let enterScreen = "\u{1B}\\\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h"
    private static let leaveScreen = "\u{1B}\\\u{1B}[0m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// Enters the mode; ``restore()`` leaves it, and runs automatically when the program exits.
    static func enter() throws {
        var settings = termios()
        guard try JobControl.comeToForeground(on: STDIN_FILENO), tcgetattr(STDIN_FILENO, &settings) == 0 else {
            throw TerminalError(errno: errno)
        }
        let isFirst = state.withLock { state in
            guard state.saved == nil else { return false }  // the current ones are not the terminal's own
            state.saved = settings
            return true
        }
        guard isFirst else { return }
        atexit { TerminalMode.restore() }
        try show(over: settings)
    }

    private static func show(over own: termios) throws {
        var settings = own
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)  // ISIG stays: Ctrl-C and Ctrl-Z are signals
        withUnsafeMutableBytes(of: &settings.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        // Without waiting: a stopped terminal (Ctrl-S) would never drain.
        guard tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0 else { throw TerminalError(errno: errno) }
        writeSoon(enterScreen)
        state.withLock { state in
            state.isSuspended = false
            state.entries += 1
        }
    }

    /// How often the screen was entered: what was drawn before the last time is no longer there.
    static var entries: Int { state.withLock { $0.entries } }

    /// Writes what the screen is to show, unless another program has the terminal.
    static func draw(_ sequence: String) throws {
        var rest = Array(sequence.utf8)[...]
        let entry = entries
        // In pieces, because a slow terminal gets no more of it once the screen has been left.
        while !rest.isEmpty, state.withLock({ $0.saved != nil && !$0.isSuspended && $0.entries == entry }) {
            try rest.prefix(4096).withUnsafeBytes { try Output.standard.write($0) }
            rest = rest.dropFirst(4096)
        }
    }

    /// Restores the terminal, if it was changed. May be called from any thread, any number of times.
    static func restore() {
        let (settings, isSuspended) = state.withLock { state in
            defer { state.saved = nil }
            return (state.saved, state.isSuspended)
        }
        guard let settings, !isSuspended else { return }
        giveBack(settings)
    }
}

// MARK: Suspending

extension TerminalMode {
    /// The signals that concern a screen; ``react(to:)`` to them, then draw it again.
    static let signals = [SIGWINCH, SIGTSTP, SIGCONT]

    /// Gives the terminal to the shell when the program is stopped (Ctrl-Z), and takes it back when it goes on.
    static func react(to signal: CInt) {
        switch signal {
        case SIGTSTP: suspend()
        case SIGCONT: resume()  // SIGSTOP gave no chance to leave the screen
        default: break
        }
    }

    /// Stops the program as the signal does by itself, with the terminal as it was before. Returns when it goes on.
    private static func suspend() {
        let settings = state.withLock { state in
            state.isSuspended = state.saved != nil
            return state.saved
        }
        if let settings { giveBack(settings) }
        JobControl.stop()
        // Where no shell could resume it, it has not stopped, and nothing will say that it goes on.
        if !JobControl.isInBackground(of: STDIN_FILENO) { resume() }
    }

    /// Does not wait for the foreground, because it runs on the loop that has to hear of other signals (`kill %1`,
    /// which lets a stopped program go on behind the signal that ends it).
    private static func resume() {
        guard let settings = state.withLock({ $0.saved }), !Interruption.hasBegun else { return }
        // A screen is of no use in the background.
        guard !JobControl.isInBackground(of: STDIN_FILENO) else { return JobControl.stop() }
        try? show(over: settings)  // a terminal that has gone ends the program with SIGHUP
    }
}

extension TerminalMode {
    private static func giveBack(_ settings: termios) {
        var settings = settings
        if !JobControl.isInBackground(of: STDIN_FILENO) {  // where they are another job's
            // First, because leaving may take a second, and a second signal may end the program.
            tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
        leave()
    }

    private static func leave() {
        var entry = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        // What a slow terminal has not taken yet belongs to a screen that no one will see.
        if poll(&entry, 1, 0) == 0 { tcflush(STDOUT_FILENO, TCOFLUSH) }
        writeSoon(leaveScreen)
    }

    /// Writes a sequence, even if the program is being interrupted, unless the terminal is gone or takes nothing for a
    /// second.
    private static func writeSoon(_ sequence: String) {
        var entry = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        var rest = Array(sequence.utf8)[...]
        while !rest.isEmpty {
            let ready = poll(&entry, 1, 1000)
            guard ready > 0 || ready < 0 && errno == EINTR else { return }
            let written = rest.withUnsafeBytes { Glibc.write(Output.standard.device, $0.baseAddress, $0.count) }
            guard written >= 0 || errno == EINTR || errno == EAGAIN else { return }
            rest = rest.dropFirst(max(0, written))
        }
    }
}

/// Why the terminal cannot be used for a screen.
struct TerminalError: Error, CustomStringConvertible {
    let errno: CInt
    var description: String {
        if errno == EIO { return "the terminal is another program's; run this one in the foreground" }
        return "the terminal's settings cannot be changed: \(String(cString: strerror(errno)))"
    }
}
