// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The standard input as lines.
enum StandardInput {
    /// Every line until the end. A thread of its own blocks for them.
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
            // A thread of its own blocks for each piece.
            try await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: piece()) }
            }.get()
        }
    }

    private static func piece() -> Result<[UInt8]?, any Error> {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 { return .success(Array(buffer[..<count])) }
            if count == 0 { return .success(nil) }
            guard errno == EINTR else {
                let reason = String(cString: strerror(errno))
                return .failure(CommandFailure("the standard input cannot be read: \(reason)"))
            }
        }
    }
}
