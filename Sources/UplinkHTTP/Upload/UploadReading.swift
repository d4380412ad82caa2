// SPDX-License-Identifier: Apache-2.0

/// What an engine gets when it asks for the next bytes of a request's body.
package enum UploadReading: Sendable, Equatable {
    /// This many bytes, at least one.
    case bytes(Int)
    /// Nothing is here yet; the engine will be told.
    case wait
    /// The body is complete.
    case end
    /// The body is not complete and never will be.
    case failed
}
