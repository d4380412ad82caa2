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
