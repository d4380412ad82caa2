// SPDX-License-Identifier: Apache-2.0

/// Undoes a content coding, piece by piece. Called by one thread at a time.
package protocol ContentDecoder: AnyObject, Sendable {
    /// Decodes some of `input` into `output`.
    ///
    /// - Returns: How many bytes were taken and made. When both are zero it wants more input.
    /// - Throws: ``DecodingFault`` when the input is not of the coding.
    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(DecodingFault) -> (taken: Int, made: Int)

    /// Whether what has been taken is whole.
    var isComplete: Bool { get }
}

/// Why a body cannot be decoded.
package enum DecodingFault: Error, Equatable {
    /// It is not of the coding it claims, or damaged.
    case damaged
    /// It breaks off.
    case truncated
    /// It is many times larger than what came.
    case expandsTooMuch
}
