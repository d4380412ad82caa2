// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
package import UplinkCore

/// Carries one request to a server and brings its response back: the interface between ``HTTPClient`` and what does the
/// work.
///
/// A transport follows no redirects and judges no statuses. `CurlTransport` is the real one; one for tests may be as
/// short as this:
///
/// ```swift
/// struct Always: HTTPTransport {
///     func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
///         HTTPTransportResponse(head: HTTPResponse(status: .ok), body: HTTPBody(Array("hello".utf8)))
///     }
/// }
/// ```
public protocol HTTPTransport: Sendable {
    /// Sends a request and returns when the final head has arrived; the body follows by itself.
    ///
    /// When the task is cancelled it throws `CancellationError`; by then the transfer is gone completely.
    ///
    /// - Throws: ``HTTPClientError``.
    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse
}

/// A transport that can be started without waiting, so that code awaiting the response holds one object instead of the
/// request and the response: an `async` function keeps every copy of those that the compiler makes.
package protocol BeginningTransport: HTTPTransport, AnyObject {
    /// Makes an exchange, which ``TransportExchange/start(_:)`` starts.
    func begin(_ request: HTTPTransportRequest, carrying body: PreparedBody) throws -> any TransportExchange
}

/// A request on its way, and its response.
package protocol TransportExchange: AnyObject, Sendable {
    /// Sends the request and resumes the waiter when the final head has arrived, or when there will be none. Called
    /// once.
    func start(_ waiter: Suspension)

    /// Makes the transfer end, if it has not.
    func cancel()

    /// Returns or throws what ``HTTPTransport/send(_:)`` would, once the waiter has been resumed.
    func takeResponse() throws -> HTTPTransportResponse
}

/// What a transport returns: the final head, and the body to come.
public struct HTTPTransportResponse: Sendable {
    private enum Head {
        /// A head that has been parsed.
        case received(ReceivedHead)
        /// A head that was set.
        case given(HTTPResponse)
    }

    private var storedHead: Head
    /// The status and the fields.
    public var head: HTTPResponse {
        get {
            switch storedHead {
            case .received(let head): head.response
            case .given(let head): head
            }
        }
        set { storedHead = .given(newValue) }
    }
    /// The body; empty for HEAD and for the statuses that have none.
    public var body: HTTPBody
    /// The exchange of its call that brought it, if exchanges are observed; nil for a response made by a middleware.
    var exchange: UInt64?
    /// Whether a middleware asked for its content codings, which are then left as they are.
    var hasOwnCodings = false

    /// Makes a response.
    public init(head: HTTPResponse, body: HTTPBody) {
        storedHead = .given(head)
        self.body = body
    }

    /// Makes a response whose head has been parsed.
    package init(_ head: ReceivedHead, source: any HTTPBodySource) {
        let framing = head.framing
        storedHead = .received(head)
        body = HTTPBody(framing: framing.kind, contentLength: framing.contentLength, source: source)
    }

    /// The head's status.
    var status: HTTPResponse.Status {
        switch storedHead {
        case .received(let head): head.status
        case .given(let head): head.status
        }
    }

    /// `HTTP/1.0` or `HTTP/1.1`, as the server says (RFC 9112, section 2.3).
    package var version: String {
        if case .received(let head) = storedHead, head.isHTTP10 { "HTTP/1.0" } else { "HTTP/1.1" }
    }

    /// Whether the head is known to name no content coding.
    var isPlain: Bool {
        switch storedHead {
        case .received(let head): !head.framing.hasContentCoding
        case .given: false
        }
    }
}
