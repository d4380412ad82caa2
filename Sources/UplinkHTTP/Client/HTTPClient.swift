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
    package let configuration: Configuration
    private let clock: HTTPClientClock

    /// Makes a client; nothing is opened yet.
    public init(transport: any HTTPTransport, configuration: Configuration = .init()) {
        self.init(transport: transport, configuration: configuration, clock: ContinuousClock())
    }

    /// Makes a client that measures the total timeout, and pauses between attempts, on a clock, which may be a test's.
    ///
    /// The transport has a clock of its own for what it does.
    public init<C: Clock>(transport: any HTTPTransport, configuration: Configuration = .init(), clock: C)
    where C.Duration == Duration {
        self.transport = transport
        self.configuration = configuration
        self.clock = HTTPClientClock(clock)
    }

    /// Sends a request and follows its redirects; returns when the head of the answer is there.
    ///
    /// - Parameters:
    ///   - request: Any method but CONNECT; see `HTTPRequest.init(parsing:method:headerFields:)`.
    ///   - body: What the request carries.
    ///   - options: What this request does differently.
    /// - Throws: ``HTTPClientError``, `CancellationError` at once when the task is cancelled, or what a middleware
    ///   throws. A status such as 404 is no error.
    public func execute(
        _ request: HTTPRequest, body: HTTPRequestBody = .none, options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await execute(request, of: nil, body: body, options: options)
    }

    /// - Parameter url: What the request was made of, where it was made of a URL alone.
    nonisolated(nonsending) func execute(
        _ request: HTTPRequest, of url: HTTPURL?, body: HTTPRequestBody, options: HTTPRequestOptions
    ) async throws -> HTTPClientResponse {
        try options.events?.claim()
        let timeouts = options.timeouts ?? configuration.timeouts
        let call = HTTPCall(
            options, total: timeouts.total, clock: clock,
            hasMiddlewares: !configuration.middlewares.isEmpty || options.retry != nil)
        do {
            let response = try await perform(request, of: url, body: body, timeouts: timeouts, options: options, call)
            call.settled()
            return response
        } catch {
            call.failed(error)
            throw error
        }
    }

    private nonisolated(nonsending) func perform(
        _ request: HTTPRequest, of url: HTTPURL?, body: HTTPRequestBody, timeouts: HTTPTimeouts,
        options: HTTPRequestOptions, _ call: HTTPCall
    ) async throws -> HTTPClientResponse {
        try configuration.validate()
        try timeouts.validate()
        var configuration = configuration
        if !options.sensitiveFields.isEmpty { configuration.sensitiveFields += options.sensitiveFields }
        var hops = try RedirectMachine(
            request, of: url, body: body, isIdempotent: options.isIdempotent, configuration: configuration)
        let chain = MiddlewareChain(transport, configuration.middlewares, options: options)
        while true {
            let response: HTTPTransportResponse
            do {
                response = try await chain.send(
                    HTTPClientRequest(
                        hops, timeouts: timeouts, options: options, configuration: configuration, call: call))
            } catch let error as HTTPClientError {
                throw error.concerning(hops)
            }
            switch try hops.received(response.head) {
            case .deliver:
                return try deliver(response, after: hops)
            case .follow:
                call.tell(.redirected(to: hops.url.redacted))
                await response.body.discardIfShort()
            }
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
