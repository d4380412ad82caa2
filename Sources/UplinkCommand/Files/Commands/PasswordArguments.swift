// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import UplinkEventLoop

/// Where a password comes from; never from the command line, which others can see.
struct PasswordArguments: ParsableArguments {
    private static let maximumSize = 4096

    @Flag(name: .customLong("password-stdin"), help: "Read the password from the first line of the standard input.")
    var fromInput = false

    @Option(
        name: .customLong("password-file"),
        help: .init("Read the password from the first line of a file.", valueName: "file"))
    var file: String?

    func validate() throws {
        guard !fromInput || file == nil else {
            throw ValidationError("--password-stdin and --password-file exclude each other")
        }
    }

    /// Whether the options name a source.
    var isGiven: Bool { fromInput || file != nil }

    /// Reads the password, or asks for it on the terminal.
    ///
    /// - Throws: ``CommandFailure`` when there is no password, `CancellationError` when the person gives up.
    func read(for whom: String) async throws -> String {
        try await EventLoop.shared.offLoop { [fromInput, file] in
            if fromInput { return try Self.line(of: STDIN_FILENO, called: "the standard input") }
            guard let file else { return try PasswordPrompt.ask("Password for \(whom): ") }
            let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)  // it may be a pipe without a writer
            guard descriptor >= 0 else {
                throw CommandFailure("`\(file)` cannot be read: \(String(cString: strerror(errno)))")
            }
            defer { close(descriptor) }
            return try Self.line(of: descriptor, called: "`\(file)`")
        }
    }

    /// Reads byte by byte, because what follows in standard input belongs to another program.
    private static func line(of descriptor: CInt, called name: String) throws -> String {
        var bytes: [UInt8] = []
        while bytes.count <= maximumSize {
            var byte: UInt8 = 0
            try StandardInput.wait(for: descriptor)
            let count = Glibc.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else {
                throw CommandFailure("\(name) cannot be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 || byte == UInt8(ascii: "\n") {
                if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
                guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
                    throw CommandFailure("\(name) holds no password in its first line")
                }
                return text
            }
            bytes.append(byte)
        }
        throw CommandFailure("the first line of \(name) is too long for a password")
    }
}
