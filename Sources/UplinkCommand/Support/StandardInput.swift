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
}
