// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// Asks for a password on the terminal, without echo.
enum PasswordPrompt {
    /// The terminal with the prompt, and its own settings.
    private static let saved = Locked<(terminal: CInt, settings: termios)?>(nil)

    /// Restores the terminal if there is a prompt on it. May be called from any thread.
    static func restore() {
        saved.withLock { saved in
            guard var asked = saved else { return }
            // In the background, the settings are another job's.
            if !JobControl.isInBackground(of: asked.terminal) {
                tcsetattr(asked.terminal, TCSADRAIN, &asked.settings)
            }
            saved = nil
        }
    }

    /// Asks on the program's controlling terminal, wherever its input and output go. Blocks.
    ///
    /// - Parameter otherwise: What to do without a terminal.
    /// - Throws: ``CommandFailure`` when there is no terminal, `CancellationError` after a signal.
    static func ask(
        _ prompt: String, otherwise: String = "give --password-stdin or --password-file"
    ) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        var settings = termios()
        guard terminal >= 0 else { throw CommandFailure("there is no terminal to ask for the password; \(otherwise)") }
        defer { close(terminal) }
        guard try JobControl.comeToForeground(on: terminal), tcgetattr(terminal, &settings) == 0 else {
            throw CommandFailure("the password cannot be asked for in the background; \(otherwise)")
        }
        let screen = Output(descriptor: terminal)
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        // No suspending: when resumed, the program would find the terminal with the shell's settings, with echo.
        withUnsafeMutableBytes(of: &silent.c_cc) { $0[Int(VSUSP)] = 0 }
        saved.withLock { $0 = (terminal, settings) }
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else {
            restore()
            throw CommandFailure("the terminal would show the password; \(otherwise)")
        }
        defer {
            restore()
            try? screen.write("\n")  // the one typed was not echoed
        }
        try screen.write(prompt)
        return try line(from: terminal)
    }

    private static func line(from terminal: CInt) throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            try StandardInput.wait(for: terminal)
            let count = read(terminal, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw CommandFailure("no password was given") }
            bytes += buffer[..<count]
            guard bytes.last == UInt8(ascii: "\n") else { continue }
            guard bytes.count > 1 else { throw CommandFailure("no password was given") }
            guard let text = String(validating: bytes.dropLast(), as: UTF8.self) else {
                throw CommandFailure("the password is not UTF-8; check the terminal's encoding (`locale charmap`)")
            }
            return text
        }
    }
}
