// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Asks a person for a password on the terminal, without an echo.
enum PasswordPrompt {
    /// Asks on the program's terminal, wherever its input and output go. Blocks.
    ///
    /// - Throws: ``CommandFailure`` when there is no terminal, `CancellationError` after a signal.
    static func ask(_ prompt: String) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        var settings = termios()
        guard terminal >= 0, tcgetattr(terminal, &settings) == 0 else {
            if terminal >= 0 { close(terminal) }
            throw CommandFailure(
                "there is no terminal to ask for the password; give --password-stdin or --password-file")
        }
        defer { close(terminal) }
        let screen = Output(descriptor: terminal)
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else {
            throw CommandFailure("the terminal would show the password; give --password-stdin or --password-file")
        }
        defer {
            tcsetattr(terminal, TCSADRAIN, &settings)
            try? screen.write("\n")  // the person's own was not shown
        }
        try screen.write(prompt)
        return try line(from: terminal)
    }

    private static func line(from terminal: CInt) throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            var entry = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, 50)
            if Interruption.hasBegun || Task.isCancelled { throw CancellationError() }
            guard ready > 0 else { continue }
            let count = read(terminal, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw CommandFailure("no password was given") }
            bytes += buffer[..<count]
            guard bytes.last == UInt8(ascii: "\n") else { continue }
            guard let text = String(validating: bytes.dropLast(), as: UTF8.self), !text.isEmpty else {
                throw CommandFailure("no password was given")
            }
            return text
        }
    }
}
