// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// Asks HTTP servers: URLs checked, redirects followed within limits, bodies streamed.
///
/// ```swift
/// let response = try await client.get("https://example.org/")
/// let page = try await response.body.collect(upTo: 1 << 20)
/// ```
///
/// A call begins, and returns, in the isolation of its caller, so that an actor's is not left for it; middlewares and
/// transports of one's own run on no actor.
///
/// A client is a value over a transport; copies share it. It keeps no cookies and reads no proxy, password file or
/// other setting from the environment.
public struct HTTPClient: Sendable {
    private let chain: MiddlewareChain
    let settings: ClientSettings

    /// Makes a client; nothing is opened yet.
    public init(transport: any HTTPTransport, configuration: Configuration = .init()) {
        self.init(transport: transport, configuration: configuration, clock: ContinuousClock())
    }

    /// Makes a client that measures the total timeout, and pauses between attempts, on a clock, which may be a test's.
    ///
    /// The transport has a clock of its own for what it does.
    public init<C: Clock>(transport: any HTTPTransport, configuration: Configuration = .init(), clock: C)
    where C.Duration == Duration {
        chain = MiddlewareChain(transport, configuration.middlewares)
        settings = ClientSettings(configuration, clock: HTTPClientClock(clock))
    }

    package var configuration: Configuration { settings.configuration }

    /// Sends a request and follows its redirects; returns when the head of the answer is there.
    ///
    /// - Parameters:
    ///   - request: Any method but CONNECT; see `HTTPRequest.init(parsing:method:headerFields:)`.
    ///   - body: What the request carries.
    ///   - options: What this request does differently.
    /// - Throws: ``HTTPClientError``, `CancellationError` at once when the task is cancelled, or what a middleware
    ///   throws. A status such as 404 is no error.
    public nonisolated(nonsending) func execute(
        _ request: HTTPRequest, body: HTTPRequestBody = .none, options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(request, body, options).response()
    }

    @inline(never)  // see `HTTPHops`
    private func hops(
        _ request: HTTPRequest, _ body: HTTPRequestBody, _ options: HTTPRequestOptions
    ) throws -> HTTPHops {
        try hops(HTTPCall(options, settings), body) { () throws(HTTPClientError) in try RequestHead(request) }
    }

    /// A call, up to where it has to wait.
    ///
    /// - Parameter head: What is asked for. Read here, so that what is wrong with it is told to who follows the events.
    func hops(
        _ call: HTTPCall, _ body: HTTPRequestBody, _ head: () throws(HTTPClientError) -> RequestHead
    ) throws -> HTTPHops {
        try call.options.events?.claim()  // events of another request are not told of this one
        do {
            try settings.check(call.options.timeouts)
            return HTTPHops(try RedirectMachine(head(), body: body, of: call), chain.chain(for: call.options))
        } catch {
            call.failed(error)
            throw error
        }
    }
}
