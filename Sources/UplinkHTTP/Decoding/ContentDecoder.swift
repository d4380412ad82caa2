// SPDX-License-Identifier: Apache-2.0

/// Undoes a content coding, piece by piece. Called by one thread at a time.
package protocol ContentDecoder: AnyObject, Sendable {
    /// Decodes some of `input` into `output`.
    ///
    /// - Returns: How many bytes were taken and produced, and what is wrong with the input behind these, after which
    ///   there is no other call. When nothing is wrong and both numbers are zero, it needs more input.
    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> (taken: Int, made: Int, fault: DecodingFault?)

    /// Whether what has been taken is complete.
    var isComplete: Bool { get }
}
