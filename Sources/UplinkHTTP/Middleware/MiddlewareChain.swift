// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// The middlewares of a client, and the transport inside them. An object, for the reason given at ``HTTPHops``.
final class MiddlewareChain: Sendable {
    private let transport: any HTTPTransport
    /// The same transport, if it can begin without waiting.
    private let beginning: (any BeginningTransport)?
    private let middlewares: [any HTTPMiddleware]

    init(_ transport: any HTTPTransport, _ middlewares: [any HTTPMiddleware]) {
        (self.transport, self.middlewares) = (transport, middlewares)
        beginning = transport as? any BeginningTransport
    }

    private init(_ chain: MiddlewareChain, and retry: HTTPRetry) {
        (transport, beginning, middlewares) = (chain.transport, chain.beginning, chain.middlewares + [retry])
    }

    /// Returns the chain for a request: with a retry inside all middlewares, if the request wants one and there is
    /// none.
    func chain(for options: HTTPRequestOptions) -> MiddlewareChain {
        guard let policy = options.retry, !middlewares.contains(where: { $0 is HTTPRetry }) else { return self }
        return MiddlewareChain(self, and: HTTPRetry(policy))
    }

    /// - Parameter place: The first middleware that sees the request.
    nonisolated(nonsending) func send(
        _ chained: ChainedRequest, from place: Int = 0
    ) async throws -> HTTPTransportResponse {
        guard place < middlewares.count else { return try await exchange(chained) }
        return try await pass(chained, to: place)
    }

    @inline(never)
    private nonisolated(nonsending) func pass(
        _ chained: ChainedRequest, to place: Int
    ) async throws -> HTTPTransportResponse {
        try await middlewares[place].respond(to: chained.request) {
            try await self.send(ChainedRequest($0), from: place + 1)
        }
    }

    /// Whether there is nothing between the client and a transport that can begin without waiting.
    var mayBegin: Bool { beginning != nil && middlewares.isEmpty }

    /// Begins to send a request that no middleware sees; nil if it has to wait for its body.
    @inline(never)
    func begin(_ request: HTTPTransportRequest, of call: HTTPCall) throws -> BegunExchange? {
        try begin(request, of: call, as: Attempt())
    }

    /// Begins to send a request once.
    private func begin(
        _ request: HTTPTransportRequest, of call: HTTPCall, observers: [HTTPClientRequest.Observer] = [],
        as attempt: Attempt
    ) throws -> BegunExchange? {
        guard let beginning, let body = request.body.preparedAtOnce else { return nil }
        var attempt = attempt
        do {
            let outgoing = try attempt.outgoing(request, of: call, observers)
            return BegunExchange(try beginning.begin(outgoing, carrying: body), attempt)
        } catch {
            throw attempt.failed(error)
        }
    }

    /// Sends a request once. What need not wait is in functions of its own: see ``HTTPHops``.
    private nonisolated(nonsending) func exchange(_ chained: ChainedRequest) async throws -> HTTPTransportResponse {
        guard let begun = try begin(chained) else { return try await exchangeWaiting(chained) }
        await begun.run()
        return try begun.takeResponse()
    }

    @inline(never)
    private func begin(_ chained: ChainedRequest) throws -> BegunExchange? {
        let request = chained.request
        try check(request)
        return try begin(
            request.outgoing, of: request.call, observers: request.observers, as: Attempt(request))
    }

    @inline(never)
    private nonisolated(nonsending) func exchangeWaiting(
        _ chained: ChainedRequest
    ) async throws -> HTTPTransportResponse {
        var attempt = Attempt(chained.request)
        do {
            let outgoing = try attempt.outgoing(
                chained.request.outgoing, of: chained.request.call, chained.request.observers)
            var response = try await transport.send(outgoing)
            attempt.conclude(&response)
            return response
        } catch {
            throw attempt.failed(error)
        }
    }

    private func check(_ request: HTTPClientRequest) throws(HTTPClientError) {
        guard !middlewares.isEmpty else { return }
        try RequestCheck.check(request.outgoing.method, request.outgoing.headerFields, request.body)
        try request.timeouts.validate()
        let scheme = try request.outgoing.checkedURL().scheme
        if scheme == .http, request.call.settings.configuration.requiresHTTPS { throw .httpsRequired }
    }
}
