// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// A checksum that is computed piece by piece. ``SHA256`` is one; you can write others.
public protocol HTTPChecksum: Sendable {
    /// Adds bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer)

    /// Returns the digest of all bytes so far. Called once, at the end.
    mutating func finish() -> [UInt8]
}

/// A body whose checksum is computed while it is read.
public struct HTTPChecksummedBody: Sendable {
    /// The same bytes; read this body in place of the original.
    public let body: HTTPBody
    let source: ChecksummedSource

    /// The digest, once ``body`` has been read to its end.
    public var digest: [UInt8]? { source.digest }
}

extension HTTPBody {
    /// Computes a checksum of the body while it is read. The result passes the bytes through, and takes over the body's
    /// single reading.
    ///
    /// ```swift
    /// try await response.body.checksummed(with: SHA256(), expecting: digest).body.write(to: path)
    /// ```
    ///
    /// - Parameters:
    ///   - checksum: The checksum, to which the body's bytes are added.
    ///   - expected: The expected digest. If the result differs, the reader throws
    ///     ``HTTPClientError/Code/checksumMismatch`` in place of the end, so that no file is left and nothing is
    ///     collected.
    public func checksummed(with checksum: some HTTPChecksum, expecting expected: [UInt8]? = nil) -> HTTPChecksummedBody
    {
        let source = ChecksummedSource(handle.reader(), checksum, expected: expected)
        return HTTPChecksummedBody(
            body: HTTPBody(framing: framing, contentLength: contentLength, source: source), source: source)
    }
}

/// Passes a body's chunks on and computes their checksum.
final class ChecksummedSource: HTTPBodySource {
    private struct State {
        /// Nil while somebody else's code works on it.
        var checksum: (any HTTPChecksum)?
        var digest: [UInt8]?
    }

    private let reader: BodyReader?
    private let expected: [UInt8]?
    private let state: Locked<State>

    /// - Parameter reader: The right to read the original; nil if somebody else has it.
    init(_ reader: BodyReader?, _ checksum: some HTTPChecksum, expected: [UInt8]?) {
        self.reader = reader
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
            message: "the body's digest is \(Self.hexadecimal(digest)), not \(Self.hexadecimal(expected)); "
                + "it was changed on its way, or the server has another version")
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.reduce(into: "") { text, byte in
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
    }

    func cancel() { reader?.source.cancel() }

    func limit(toRemaining total: Duration) { reader?.source.limit(toRemaining: total) }

    func decline() { reader?.source.decline() }

    var heedsLimit: Bool { reader?.source.heedsLimit ?? true }

    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        guard let reader else { return try work() }
        return try await reader.source.performBlocking(work)
    }

    var trailerFields: HTTPFields? { reader?.source.trailerFields }
}
