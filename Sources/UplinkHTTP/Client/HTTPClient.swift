// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
import UplinkCore

/// An HTTP client: URLs are checked, redirects are followed within limits, bodies are streamed.
///
/// ```swift
/// let response = try await client.get("https://example.org/")
/// let page = try await response.body.collect(upTo: 1 << 20)
/// ```
///
/// A call starts and returns in its caller's isolation, so an actor is not left for it; middlewares and custom
/// transports run on no actor.
///
/// A client is a value on top of a transport; copies share the transport. It keeps no cookies and reads no proxy,
/// password file or other setting from the environment. (The libraries below do: libcurl writes TLS secrets to
/// the file that `SSLKEYLOGFILE` names, and OpenSSL and the C library's resolver have variables of their own, such as
/// `OPENSSL_CONF` and `RES_OPTIONS`.)
public struct HTTPClient: Sendable {
    private let chain: MiddlewareChain
    let settings: ClientSettings

    /// Makes a client; nothing is opened yet.
    public init(transport: any HTTPTransport, configuration: Configuration = .init()) {
        let clock = (transport as? any BeginningTransport)?.clock
        self.init(transport, configuration, clock ?? ElapsedClock(ContinuousClock()))
    }

    /// Makes a client that measures the total timeout, and pauses between attempts, on a clock, such as a test's.
    ///
    /// The client looks at the clock before each request that it sends, and while a middleware waits in
    /// ``HTTPClientRequest/withinTotal(_:)``. While a request is under way it is the transport that keeps to what is
    /// left of the total, on a clock of its own: one that keeps no timeouts, such as `StubTransport`, is waited for.
    public init<C: Clock>(transport: any HTTPTransport, configuration: Configuration = .init(), clock: C)
    where C.Duration == Duration {
        self.init(transport, configuration, ElapsedClock(clock))
    }

    private init(_ transport: any HTTPTransport, _ configuration: Configuration, _ clock: ElapsedClock) {
        chain = MiddlewareChain(transport, configuration.middlewares)
        settings = ClientSettings(configuration, clock: clock)
    }

    package var configuration: Configuration { settings.configuration }

    /// Sends a request and follows its redirects; returns as soon as the head of the response has arrived.
    ///
    /// - Parameters:
    ///   - request: Any method but CONNECT; see `HTTPRequest.init(parsing:method:headerFields:)`.
    ///   - body: The request's body.
    ///   - options: Options of this request.
    /// - Throws: ``HTTPClientError``, `CancellationError` immediately when the task is cancelled, or the error of a
    ///   middleware or of the sequence that `body` iterates. A status such as 404 is not an error. A task that is not
    ///   cancelled gets `CancellationError`, too, if the client's transport is shut down meanwhile and cancels what is
    ///   under way.
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

    /// Starts a call, up to the point where it has to wait.
    ///
    /// - Parameter head: Returns the head to send. Called here, so that errors in it are reported as events.
    func hops(
        _ call: HTTPCall, _ body: HTTPRequestBody, _ head: () throws(HTTPClientError) -> RequestHead
    ) throws -> HTTPHops {
        try call.options.events?.claim()  // events of another request are not sent for this one
        do {
            try settings.check(call.options.timeouts)
            return HTTPHops(try RedirectMachine(head(), body: body, of: call), chain.chain(for: call.options))
        } catch {
            call.failed(error)
            throw error
        }
    }
}
