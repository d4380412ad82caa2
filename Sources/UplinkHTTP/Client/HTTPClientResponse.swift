// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// The response to a request: its head, and its body as it arrives.
public struct HTTPClientResponse: Sendable {
    private struct Parts {
        let response: HTTPTransportResponse
        let url: String
        let redirects: [String]
    }

    /// Kept small, because code that awaits a body holds the response meanwhile.
    private let parts: Shared<Parts>

    /// The status and the fields.
    public var head: HTTPResponse { parts.value.response.head }
    /// The URL of the last request, after all redirects, as it was passed to the middlewares.
    ///
    /// Its fragment is that of the URL as it was given (an `HTTPRequest` has none), which redirects inherit unless they
    /// have one of their own (RFC 9110, section 10.2.2).
    public var url: String { parts.value.url }
    /// The URLs that redirected, in order; empty if the first one answered.
    public var redirects: [String] { parts.value.redirects }
    /// The body. It arrives while it is read; dropping it ends the transfer.
    public var body: HTTPBody { parts.value.response.body }

    /// The status, such as `.ok`. No status is an error by itself.
    public var status: HTTPResponse.Status { parts.value.response.status }
    /// The header fields.
    public var headerFields: HTTPFields { head.headerFields }
    /// As in ``HTTPTransportResponse``.
    package var version: String { parts.value.response.version }

    init(_ response: consuming HTTPTransportResponse, url: consuming String, redirects: consuming [String]) {
        parts = Shared(Parts(response: response, url: url, redirects: redirects))
    }
}
