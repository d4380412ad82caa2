// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The standard input as lines.
enum StandardInput {
    /// Every line until the end. A separate thread blocks for them.
    static var lines: AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }

    /// The bytes until the end, as they are asked for.
    static var bytes: AsyncThrowingStream<[UInt8], any Error> {
        AsyncThrowingStream {
            // A separate thread blocks for each piece.
            try await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: piece()) }
            }.get()
        }
    }

    private static func piece() -> Result<[UInt8]?, any Error> {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            do { try wait(for: STDIN_FILENO) } catch { return .failure(error) }
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 { return .success(Array(buffer[..<count])) }
            if count == 0 { return .success(nil) }
            guard errno == EINTR || errno == EAGAIN else {
                let reason = String(cString: strerror(errno))
                return .failure(CommandFailure("the standard input cannot be read: \(reason)"))
            }
        }
    }

    /// Blocks until there is something to read, or nothing more will come.
    ///
    /// - Throws: `CancellationError` after a signal that asks the program to end; read(2) would not return for it.
    static func wait(for descriptor: CInt) throws {
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, 50)
            if Interruption.hasBegun || Task.isCancelled { throw CancellationError() }
            if ready > 0 || ready < 0 && errno != EINTR { return }
        }
    }
}
