// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// Carries one request to a server and its answer back: the seam between ``HTTPClient`` and what does the work.
///
/// A transport follows no redirect and judges no status. `CurlTransport` is the real one; a test's may be as short as
///
/// ```swift
/// struct Always: HTTPTransport {
///     func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
///         HTTPTransportResponse(head: HTTPResponse(status: .ok), body: HTTPBody(Array("hello".utf8)))
///     }
/// }
/// ```
public protocol HTTPTransport: Sendable {
    /// Sends a request and returns when the final head has arrived; the body follows on its own.
    ///
    /// When the task is cancelled this throws `CancellationError`, and nothing of the transfer is left.
    ///
    /// - Throws: ``HTTPClientError``.
    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse
}

/// A transport that can be asked without waiting, so that whoever awaits the answer holds one object and neither request
/// nor answer, of which an `async` function keeps each copy that the compiler makes.
package protocol BeginningTransport: HTTPTransport, AnyObject {
    /// Makes an exchange, which ``TransportExchange/run()`` begins.
    func begin(_ request: HTTPTransportRequest, carrying body: PreparedBody) throws -> any TransportExchange
}

/// A request on its way, and its answer.
package protocol TransportExchange: AnyObject, Sendable {
    /// Sends the request and returns when the final head has arrived, or when there will be none. Called once.
    nonisolated(nonsending) func run() async

    /// What ``HTTPTransport/send(_:)`` would return or throw, after ``run()``.
    func takeResponse() throws -> HTTPTransportResponse
}

/// What a transport brings back: the final head, and the body to come.
public struct HTTPTransportResponse: Sendable {
    private enum Head {
        /// One that has been read.
        case received(ReceivedHead)
        /// One that was set.
        case given(HTTPResponse)
    }

    private var storedHead: Head
    /// Status and fields.
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
    /// Which exchange of its call has brought it, where somebody is told about them; nil for what a middleware has made.
    var exchange: UInt64?

    /// Puts an answer together.
    public init(head: HTTPResponse, body: HTTPBody) {
        storedHead = .given(head)
        self.body = body
    }

    /// Puts an answer together whose head has been read.
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

    /// `HTTP/1.0` or `HTTP/1.1`, as the server has it (RFC 9112, section 2.3).
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
