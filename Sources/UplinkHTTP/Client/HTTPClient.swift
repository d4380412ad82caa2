// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// Asks HTTP servers: URLs checked, redirects followed within limits, bodies streamed.
///
/// ```swift
/// let response = try await client.get("https://example.org/")
/// let page = try await response.body.collect(upTo: 1 << 20)
/// ```
///
/// A client is a value over a transport; copies share it. It keeps no cookies and reads no proxy, password file or
/// other setting from the environment.
public struct HTTPClient: Sendable {
    private let transport: any HTTPTransport
    private let configuration: Configuration

    /// Makes a client; nothing is opened yet.
    public init(transport: any HTTPTransport, configuration: Configuration = .init()) {
        self.transport = transport
        self.configuration = configuration
    }

    /// Asks for a URL and returns when the head of the answer is there.
    ///
    /// - Parameters:
    ///   - url: An absolute `http` or `https` URL (RFC 3986), percent-encoded, without user and password.
    ///   - headers: Fields to send.
    ///   - timeouts: In place of the configuration's.
    /// - Throws: ``HTTPClientError``, or `CancellationError` at once when the task is cancelled. A status such as 404
    ///   is no error.
    public func get(
        _ url: String, headers: HTTPFields = [:], timeouts: HTTPTimeouts? = nil
    ) async throws -> HTTPClientResponse {
        try await execute(HTTPRequest(parsing: url, headerFields: headers), options: .init(timeouts: timeouts))
    }

    /// Asks for the head alone. `contentLength` of the body tells what a GET would bring; the body itself is empty.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public func head(
        _ url: String, headers: HTTPFields = [:], timeouts: HTTPTimeouts? = nil
    ) async throws -> HTTPClientResponse {
        try await execute(
            HTTPRequest(parsing: url, method: .head, headerFields: headers), options: .init(timeouts: timeouts))
    }

    /// Sends a request and follows its redirects.
    ///
    /// - Parameters:
    ///   - request: Any method but CONNECT; see ``HTTPTypes/HTTPRequest/init(parsing:method:headerFields:)``.
    ///   - body: What the request carries.
    ///   - options: What this request does differently.
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public func execute(
        _ request: HTTPRequest, body: HTTPRequestBody = .none, options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        let timeouts = options.timeouts ?? configuration.timeouts
        try configuration.validate()
        try timeouts.validate()
        var hops = try RedirectMachine(
            request, body: body, isIdempotent: options.isIdempotent, configuration: configuration)
        let start = ContinuousClock.now
        while true {
            var remaining = timeouts
            remaining.total = timeouts.total.map { max(.zero, $0 - (ContinuousClock.now - start)) }
            let response = try await send(hops, timeouts: remaining, observer: options.observer)
            switch try hops.received(response.head) {
            case .deliver:
                return try deliver(response, after: hops)
            case .follow:
                await response.body.discardIfShort()
            }
        }
    }

    private func send(
        _ hops: RedirectMachine, timeouts: HTTPTimeouts, observer: (@Sendable (HTTPEvent) -> Void)?
    ) async throws -> HTTPTransportResponse {
        do {
            return try await transport.send(
                HTTPTransportRequest(
                    head: hops.request, body: hops.body, timeouts: timeouts, limits: configuration.limits,
                    isIdempotent: hops.isIdempotent, observer: observer))
        } catch var error as HTTPClientError {
            error.url = hops.url.redacted
            error.redirects = hops.redactedHistory
            throw error
        }
    }

    private func deliver(
        _ response: HTTPTransportResponse, after hops: RedirectMachine
    ) throws(HTTPClientError) -> HTTPClientResponse {
        var response = response
        do throws(HTTPClientError) {
            if hops.decodesContent {
                response.body = try ContentCoding.decoded(
                    response.body, of: response.head, limits: configuration.limits)
            }
            if configuration.limits.requiresFramedBodies, response.body.framing == .untilClose {
                throw HTTPClientError(
                    .unframedBody, phase: .body, requestDisposition: .responseStarted,
                    message: "the server announces no length, and `requiresFramedBodies` is set; "
                        + "ask the server to send Content-Length or chunks, or allow unframed bodies")
            }
        } catch {
            throw error.concerning(hops)
        }
        return HTTPClientResponse(
            head: response.head, url: hops.url.text, redirects: hops.history.map(\.text), body: response.body)
    }
}
