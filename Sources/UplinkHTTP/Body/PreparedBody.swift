// SPDX-License-Identifier: Apache-2.0

/// A request's body ready to be sent: everything that it needs has been looked up.
package struct PreparedBody: Sendable {
    /// The source of its bytes.
    package enum Content: Sendable {
        /// There is no body.
        case none
        /// These bytes.
        case bytes([UInt8])
        /// Bytes that are produced while they are sent.
        case production(BodyProduction)
    }

    package let content: Content
    /// The number of bytes; nil for a chunked body.
    package let length: Int64?
    /// Whether ``content`` can be sent again from its start.
    package let isReplayable: Bool
    /// Whether to wait for the server's consent before sending the body.
    package let expectsContinue: Bool
}
