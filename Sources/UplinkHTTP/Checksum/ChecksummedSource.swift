// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// Passes a body's chunks on and computes their checksum.
final class ChecksummedSource: ForwardingBodySource {
    private struct State {
        /// Nil while somebody else's code works on it.
        var checksum: (any HTTPChecksum)?
        var digest: [UInt8]?
    }

    private let reader: BodyReader?
    let inner: any HTTPBodySource
    private let expected: [UInt8]?
    private let state: Locked<State>

    /// - Parameter reader: The right to read the original; nil if somebody else has it.
    init(_ reader: BodyReader?, _ checksum: some HTTPChecksum, expected: [UInt8]?) {
        self.reader = reader
        inner = reader?.source ?? PulledSource { nil }  // which nobody reads: `next` refuses without a reader
        self.expected = expected
        state = Locked(State(checksum: checksum))
    }

    var digest: [UInt8]? { state.withLock { $0.digest } }

    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        var iterator = HTTPBody.Iterator(reader: reader)
        guard let chunk = try await iterator.next() else {
            try finish()
            return nil
        }
        compute { checksum in chunk.withUnsafeBytes { checksum.update($0) } }
        return chunk
    }

    /// Computes outside of the lock; only one task reads.
    private func compute(_ step: (inout any HTTPChecksum) -> Void) {
        guard var checksum = state.withLock({ $0.checksum.take() }) else { return }
        step(&checksum)
        state.withLock { [checksum] in $0.checksum = checksum }
    }

    private func finish() throws(HTTPClientError) {
        if digest == nil {
            compute { checksum in
                let digest = checksum.finish()
                state.withLock { $0.digest = digest }
            }
        }
        guard let expected, let digest, digest != expected else { return }
        throw HTTPClientError(
            .checksumMismatch, phase: .body, requestDisposition: .responseStarted,
            message: "the body's digest is \(Hexadecimal.text(digest)), not \(Hexadecimal.text(expected)); "
                + "it was changed on its way, or the server has another version")
    }
}
