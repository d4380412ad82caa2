// SPDX-License-Identifier: Apache-2.0

/// Limits on what a server may make a client hold or do. Exceeding a limit is an error; nothing is cut off silently.
public struct HTTPLimits: Sendable, Hashable {
    /// The most bytes of a response's head, and of its trailers. `CurlTransport` has limits of libcurl's besides: 300
    /// KB for all heads of a response, 100 KB for a line, and 4 KB for a trailer field.
    public var headerBytes = 64 * 1024
    /// The most fields in a response's head, and in its trailers.
    public var headerFields = 256
    /// The most interim (1xx) responses to one request.
    public var interimResponses = 16
    /// The most bytes of a body that are held for a reader slower than the network; then the transfer pauses. At least
    /// a piece of 16 KiB, and libcurl has a buffer of its own besides.
    public var bufferedBytes = 1024 * 1024
    /// How many times a body may be encoded (gzip within gzip).
    public var contentCodings = 2
    /// How many times larger than the received bytes a decoded body may be, beyond its first MiB.
    public var compressionRatio = 100
    /// Whether to refuse a body that is delimited only by the end of the connection, because nobody can tell whether it
    /// is complete.
    public var requiresFramedBodies = false

    /// The default limits.
    public init() {}

    /// - Throws: ``HTTPClientError`` when a limit is zero or negative, or more than is possible.
    func validate() throws(HTTPClientError) {
        // One by one: a table would be built for each request.
        try Self.check("headerBytes", headerBytes)
        try Self.check("headerFields", headerFields)
        guard headerFields <= Self.possibleFields else {
            throw HTTPClientError(
                .invalidConfiguration, phase: .request,
                message: "the limit `headerFields` is \(headerFields); at most \(Self.possibleFields) are possible")
        }
        try Self.check("interimResponses", interimResponses)
        try Self.check("bufferedBytes", bufferedBytes)
        try Self.check("contentCodings", contentCodings)
        try Self.check("compressionRatio", compressionRatio)
    }

    /// How many `HTTPFields` takes.
    private static let possibleFields = 65_534

    private static func check(_ name: StaticString, _ limit: Int) throws(HTTPClientError) {
        guard limit < 1 else { return }
        throw HTTPClientError(
            .invalidConfiguration, phase: .request, message: "the limit `\(name)` is \(limit); give 1 or more")
    }
}
