// SPDX-License-Identifier: Apache-2.0
public import UplinkHTTP

/// The digest of a download: its algorithm, and the value expected of it.
public struct DownloadChecksum: Sendable {
    /// Makes the algorithm's state, with no bytes yet.
    public let algorithm: @Sendable () -> any HTTPChecksum
    /// The expected digest; nil only to compute it. Any other is ``DownloadError/Code/checksumMismatch``.
    public let expected: [UInt8]?

    /// A digest by any algorithm.
    public init(expecting expected: [UInt8]? = nil, algorithm: @escaping @Sendable () -> any HTTPChecksum) {
        self.expected = expected
        self.algorithm = algorithm
    }

    /// SHA-256 (FIPS 180-4).
    public static func sha256(expecting expected: [UInt8]? = nil) -> Self {
        Self(expecting: expected) { SHA256() }
    }

    /// SHA-256, with the digest as 64 hexadecimal digits of either case.
    ///
    /// - Throws: ``DownloadError`` with ``DownloadError/Code/invalidOptions`` when the text is anything else.
    public static func sha256(hexadecimal text: String) throws(DownloadError) -> Self {
        guard let digest = Hexadecimal.bytes(of: text), digest.count == 32 else {
            throw DownloadError(
                .invalidOptions, message: "`\(text)` is no SHA-256 digest; give 64 hexadecimal digits")
        }
        return sha256(expecting: digest)
    }
}
