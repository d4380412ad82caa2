// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Errors for a body that is longer or shorter than announced.
enum BodyLength {
    static func check(_ count: Int64, against length: Int64?) throws(HTTPClientError) {
        guard let length, count != length else { return }
        throw count > length ? exceeded(length) : missed(count, length)
    }

    static func exceeded(_ length: Int64) -> HTTPClientError {
        mismatch("the request's body is longer than the \(length) bytes announced; \(advice)")
    }

    static func missed(_ count: Int64, _ length: Int64) -> HTTPClientError {
        mismatch("the request's body ended after \(count) of the \(length) bytes announced; \(advice)")
    }

    private static let advice = "give the right length, or none"

    static func mismatch(_ message: String) -> HTTPClientError {
        HTTPClientError(
            .bodyLengthMismatch, phase: .firstByte, requestDisposition: .maybeProcessed, message: message)
    }
}

/// Counts bytes. Used by one task at a time, though perhaps not always the same.
final class ByteCounter: Sendable {
    private let count = Locked<Int64>(0)

    /// Adds a number and returns the sum.
    func add(_ more: Int) -> Int64 {
        count.withLock { count in
            count += Int64(more)
            return count
        }
    }
}
