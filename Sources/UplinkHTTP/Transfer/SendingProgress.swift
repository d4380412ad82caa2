// SPDX-License-Identifier: Apache-2.0

/// How much of the sent bytes the peer has.
package struct SendingProgress: Sendable {
    /// The bytes that it has acknowledged on this connection.
    package let acknowledged: UInt64
    /// Whether everything has been acknowledged.
    package let isWhole: Bool

    package init(acknowledged: UInt64, isWhole: Bool) { (self.acknowledged, self.isWhole) = (acknowledged, isWhole) }
}
