// SPDX-License-Identifier: Apache-2.0

/// What a request carries.
public struct HTTPRequestBody: Sendable {
    package enum Content: Sendable {
        /// No body at all.
        case none
        /// These bytes.
        case bytes([UInt8])
    }

    package let content: Content

    /// No body.
    public static let none = Self(content: .none)

    /// These bytes.
    public static func bytes(_ bytes: [UInt8]) -> Self { Self(content: .bytes(bytes)) }

    /// Its length, where that is known beforehand.
    public var length: Int64? {
        switch content {
        case .none: nil
        case .bytes(let bytes): Int64(bytes.count)
        }
    }

    /// Whether it can be sent a second time, after a redirect or a failed attempt.
    public var isReplayable: Bool {
        switch content {
        case .none, .bytes: true
        }
    }
}
