// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// The answer to a request: its head, and its body as it arrives.
public struct HTTPClientResponse: Sendable {
    /// Status and fields.
    public let head: HTTPResponse
    /// The URL that answered, after all redirects. A fragment is there only if a redirect gave it.
    public let url: String
    /// The URLs that redirected, in order; empty when the first one answered.
    public let redirects: [String]
    /// The body. It arrives while it is read; dropping it ends the transfer.
    public let body: HTTPBody

    /// The status, such as `.ok`. No status is an error by itself.
    public var status: HTTPResponse.Status { head.status }
    /// The header fields.
    public var headerFields: HTTPFields { head.headerFields }
}
