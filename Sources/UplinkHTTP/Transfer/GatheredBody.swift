// SPDX-License-Identifier: Apache-2.0

/// The result of gathering a body.
package enum GatheredBody: Sendable {
    /// All of it.
    case whole([UInt8])
    /// It is larger than accepted; this many bytes have arrived.
    case tooLarge(received: Int)
}
