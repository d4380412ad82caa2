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
