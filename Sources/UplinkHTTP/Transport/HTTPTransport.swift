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
package protocol BeginningTransport: HTTPTransport {
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

/// A request that has been checked: `http` or `https`, a method and fields that may be sent.
public struct HTTPTransportRequest: Sendable {
    /// Method, scheme, authority, path and fields.
    public var head: HTTPRequest {
        didSet { url = nil }
    }
    /// What goes out after the head.
    public var body: HTTPRequestBody
    /// How long the parts may take. `total` is what is left of it.
    public var timeouts: HTTPTimeouts
    /// What the server may make us hold.
    public var limits: HTTPLimits
    /// Whether it may be sent twice; nil goes by the method (RFC 9110, section 9.2.2).
    public var isIdempotent: Bool?
    /// Told what happens, outside of all locks and C frames; it must not block. A transport that knows nothing says
    /// nothing. One that says anything tells an end too, before whoever waits for the head or the body learns of it.
    public var observer: (@Sendable (HTTPEvent) -> Void)?
    /// Where the head goes, where that has been read.
    private(set) var url: HTTPURL?

    /// Puts a request together; for tests of transports. It is not checked.
    public init(
        head: HTTPRequest, body: HTTPRequestBody = .none, timeouts: HTTPTimeouts = .init(),
        limits: HTTPLimits = .init(), isIdempotent: Bool? = nil, observer: (@Sendable (HTTPEvent) -> Void)? = nil
    ) {
        self.init(
            head: head, at: nil, body: body, timeouts: timeouts, limits: limits, isIdempotent: isIdempotent,
            observer: observer)
    }

    /// - Parameter url: Where the head goes, where that has been read.
    init(
        head: HTTPRequest, at url: HTTPURL?, body: HTTPRequestBody, timeouts: HTTPTimeouts, limits: HTTPLimits,
        isIdempotent: Bool?, observer: (@Sendable (HTTPEvent) -> Void)?
    ) {
        self.head = head
        self.url = url
        self.body = body
        self.isIdempotent = isIdempotent
        self.observer = observer
        self.timeouts = timeouts
        self.limits = limits
    }
}

extension HTTPTransportRequest {
    /// Where the request goes.
    ///
    /// - Throws: ``HTTPClientError`` when the head makes no URL.
    package func checkedURL() throws(HTTPClientError) -> HTTPURL {
        if let url { return url }
        return try head.checkedURL()
    }

    /// Whether a transport may send it again by itself when a connection dies before any answer.
    package var mayBeRepeated: Bool { (isIdempotent ?? head.method.isIdempotent) && body.isReplayable }
}

/// What a transport brings back: the final head, and the body to come.
public struct HTTPTransportResponse: Sendable {
    /// Status and fields.
    public var head: HTTPResponse
    /// The body; empty for HEAD and for the statuses that have none.
    public var body: HTTPBody

    /// Puts an answer together.
    public init(head: HTTPResponse, body: HTTPBody) {
        self.head = head
        self.body = body
    }
}
