// SPDX-License-Identifier: Apache-2.0

/// Undoes a content coding, piece by piece. Called by one thread at a time.
package protocol ContentDecoder: AnyObject, Sendable {
    /// Decodes some of `input` into `output`.
    ///
    /// - Returns: How many bytes were taken and produced. When both are zero, it needs more input.
    /// - Throws: ``DecodingFault`` when the input is not in this coding.
    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(DecodingFault) -> (taken: Int, made: Int)

    /// Whether what has been taken is complete.
    var isComplete: Bool { get }
}

/// The reason why a body cannot be decoded.
package enum DecodingFault: Error, Equatable {
    /// It is damaged, or not in the coding that it claims.
    case damaged
    /// It ends too early.
    case truncated
    /// It is too many times larger than the received bytes.
    case expandsTooMuch
}
