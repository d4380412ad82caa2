// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// A complete response with its body in memory.
public struct HTTPCollectedResponse: Sendable {
    /// The status and the fields.
    public let head: HTTPResponse
    /// The URL of the last request, after all redirects, as it was passed to the middlewares.
    ///
    /// Its fragment is that of the URL as it was given (an `HTTPRequest` has none), which redirects inherit unless they
    /// have one of their own (RFC 9110, section 10.2.2).
    public let url: String
    /// The URLs that redirected, in order; empty if the first one answered.
    public let redirects: [String]
    /// The body.
    public let body: [UInt8]
    /// The fields that came after the body.
    public let trailerFields: HTTPFields

    /// The status, such as `.ok`. No status is an error by itself.
    public var status: HTTPResponse.Status { head.status }
    /// The header fields.
    public var headerFields: HTTPFields { head.headerFields }
}

extension HTTPClientResponse {
    /// Reads the whole body into memory.
    ///
    /// - Parameters:
    ///   - maximum: The most bytes to accept.
    ///   - timeout: How long reading may take from now; nil for no limit other than `total`.
    /// - Throws: As ``HTTPBody/collect(upTo:within:)``.
    public nonisolated(nonsending) func collected(
        upTo maximum: Int, within timeout: Duration? = .seconds(60)
    ) async throws -> HTTPCollectedResponse {
        let bytes = try await body.collect(upTo: maximum, within: timeout)
        return HTTPCollectedResponse(
            head: head, url: url, redirects: redirects, body: bytes, trailerFields: body.trailerFields ?? [:])
    }
}
