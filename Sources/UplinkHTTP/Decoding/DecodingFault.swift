// SPDX-License-Identifier: Apache-2.0

/// The reason why a body cannot be decoded.
package enum DecodingFault: Error, Equatable {
    /// It is damaged, or not in the coding that it claims.
    case damaged
    /// It ends too early.
    case truncated
    /// It is too many times larger than the received bytes.
    case expandsTooMuch
}
