// SPDX-License-Identifier: Apache-2.0

/// What a server may make a client hold or do. Exceeding a limit is an error, never a silent cut.
public struct HTTPLimits: Sendable, Hashable {
    /// Bytes of an answer's head, and of its trailers.
    public var headerBytes = 64 * 1024
    /// Fields in an answer's head, and in its trailers.
    public var headerFields = 256
    /// Interim (1xx) answers to one request.
    public var interimResponses = 16
    /// Bytes of a body that are held for a reader who is slower than the network; the body pauses there.
    public var bufferedBytes = 1024 * 1024
    /// How often a body may be encoded (gzip within gzip).
    public var contentCodings = 2
    /// How many times as large as what came a decoded body may be, beyond its first MiB.
    public var compressionRatio = 100
    /// Refuses a body whose only end is that of the connection, because nobody can tell whether it is whole.
    public var requiresFramedBodies = false

    /// The default limits.
    public init() {}

    /// - Throws: ``HTTPClientError`` when a limit is zero or negative.
    func validate() throws(HTTPClientError) {
        // One by one: a table of them would be made for each request.
        try Self.check("headerBytes", headerBytes)
        try Self.check("headerFields", headerFields)
        try Self.check("interimResponses", interimResponses)
        try Self.check("bufferedBytes", bufferedBytes)
        try Self.check("contentCodings", contentCodings)
        try Self.check("compressionRatio", compressionRatio)
    }

    private static func check(_ name: StaticString, _ limit: Int) throws(HTTPClientError) {
        guard limit < 1 else { return }
        throw HTTPClientError(
            .invalidConfiguration, phase: .request, message: "the limit `\(name)` is \(limit); give 1 or more")
    }
}
