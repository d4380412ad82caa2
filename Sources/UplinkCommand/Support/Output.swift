// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Writes whole texts and bytes to a descriptor, without a buffer of its own.
struct Output: Sendable {
    let descriptor: CInt
    /// What is written to. The terminal behind a standard stream is opened again, without blocking: a blocking write to
    /// it returns only when everything is taken, whatever poll(2) says.
    let device: CInt

    init(descriptor: CInt) { (self.descriptor, device) = (descriptor, descriptor) }

    /// A standard stream. What is opened again stays so until the program ends, and the shell's own opening is left as
    /// it is. A terminal that may not be opened again, as after `su`, is written to as it is.
    private init(standard descriptor: CInt) {
        let flags = O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
        let terminal = isatty(descriptor) == 1 ? open("/proc/self/fd/\(descriptor)", flags) : -1
        (self.descriptor, device) = (descriptor, terminal >= 0 ? terminal : descriptor)
    }

    static let standard = Output(standard: STDOUT_FILENO)
    static let error = Output(standard: STDERR_FILENO)

    /// Whether it is a terminal that can move its cursor.
    var isTerminal: Bool { isatty(descriptor) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb" }

    /// Whether colours are wanted: on a terminal, unless `NO_COLOR` is set (no-color.org).
    var hasStyles: Bool { isTerminal && !Self.isNoColorSet }

    static var isNoColorSet: Bool { getenv("NO_COLOR").map { $0.pointee != 0 } ?? false }

    /// Writes all of the text.
    func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }

    /// Writes all of the bytes; gives up when the task is cancelled while a slow reader holds it up.
    ///
    /// - Throws: `CancellationError`, or ``OutputError`` when the descriptor takes no more.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            // A pipe that is ready takes PIPE_BUF bytes without blocking.
            var entry = pollfd(fd: device, events: Int16(POLLOUT), revents: 0)
            if poll(&entry, 1, 20) == 0 {
                try Task.checkCancellation()
                if Interruption.hasBegun { throw CancellationError() }  // this thread may be the one to cancel the task
                continue
            }
            let written = Glibc.write(
                device, UnsafeRawBufferPointer(rebasing: rest).baseAddress, min(rest.count, 4096))
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR, errno != EAGAIN {
                throw OutputError(errno: errno)
            }
        }
    }
}

/// Why an output takes no more.
struct OutputError: Error, CustomStringConvertible {
    let errno: CInt

    /// The reader has gone, as `head` does when it has seen enough.
    var isClosed: Bool { errno == EPIPE }

    var description: String { "the output cannot be written: \(String(cString: strerror(errno)))" }
}
