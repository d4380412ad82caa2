// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// The terminal's settings while a screen is shown: keys delivered immediately and without echo, the alternate screen,
/// no cursor, lines cut instead of wrapped, and bracketed pastes.
enum TerminalMode {
    private static let saved = Locked<termios?>(nil)
    private static let enterScreen = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h"
    // First ends a picture that was cut off, which would swallow the rest.
    private static let leaveScreen = "\u{1B}\\\u{1B}[0m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// Enters the mode; ``restore()`` leaves it, and runs automatically when the program exits.
    static func enter() throws {
        var settings = termios()
        guard JobControl.comeToForeground(on: STDIN_FILENO), tcgetattr(STDIN_FILENO, &settings) == 0 else {
            throw TerminalError(errno: errno)
        }
        let isFirst = saved.withLock { saved in
            guard saved == nil else { return false }  // the current ones are not the terminal's own
            saved = settings
            return true
        }
        guard isFirst else { return }
        atexit { TerminalMode.restore() }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)  // ISIG stays: Ctrl-C is a signal
        withUnsafeMutableBytes(of: &settings.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
            characters[Int(VSUSP)] = 0  // no suspending: another program would find the screen in this mode
        }
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0 else { throw TerminalError(errno: errno) }
        try Output.standard.write(enterScreen)
    }

    /// Restores the terminal, if it was changed. May be called from any thread, any number of times.
    static func restore() {
        let settings = saved.withLock { saved in
            defer { saved = nil }
            return saved
        }
        guard var settings else { return }
        leave()
        guard !JobControl.isInBackground(of: STDIN_FILENO) else { return }  // and its settings are another job's
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)  // a stopped terminal (Ctrl-S) would never drain
    }
}

extension TerminalMode {
    /// Writes the sequence that leaves the screen, even if the program is being interrupted, unless the terminal is
    /// gone or takes nothing for a second.
    private static func leave() {
        var entry = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        // What a slow terminal has not taken yet belongs to a screen that no one will see.
        if poll(&entry, 1, 0) == 0 { tcflush(STDOUT_FILENO, TCOFLUSH) }
        var rest = Array(leaveScreen.utf8)[...]
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
