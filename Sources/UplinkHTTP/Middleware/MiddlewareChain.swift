// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// The middlewares of a client, and the transport inside of them. An object, for the reason of ``HTTPHops``.
final class MiddlewareChain: Sendable {
    private let transport: any HTTPTransport
    /// The same, where it is one that begins without waiting.
    private let beginning: (any BeginningTransport)?
    private let middlewares: [any HTTPMiddleware]

    init(_ transport: any HTTPTransport, _ middlewares: [any HTTPMiddleware]) {
        (self.transport, self.middlewares) = (transport, middlewares)
        beginning = transport as? any BeginningTransport
    }

    private init(_ chain: MiddlewareChain, and retry: HTTPRetry) {
        (transport, beginning, middlewares) = (chain.transport, chain.beginning, chain.middlewares + [retry])
    }

    /// The chain for a request: with a retry inside of all, if the request wants one and there is none.
    func chain(for options: HTTPRequestOptions) -> MiddlewareChain {
        guard let policy = options.retry, !middlewares.contains(where: { $0 is HTTPRetry }) else { return self }
        return MiddlewareChain(self, and: HTTPRetry(policy))
    }

    /// - Parameter place: The first middleware that is to see it.
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

    /// Whether nothing stands between the client and a transport that may begin without waiting.
    var mayBegin: Bool { beginning != nil && middlewares.isEmpty }

    /// Begins to send a request once; nil where that has to wait for its body.
    @inline(never)
    func begin(_ chained: ChainedRequest) throws -> BegunExchange? {
        guard let beginning, let body = chained.request.body.preparedAtOnce else { return nil }
        try check(chained)
        let witness = witness(of: chained)
        do {
            let exchange = try beginning.begin(outgoing(chained, witness), carrying: body)
            return BegunExchange(exchange: exchange, chained: chained, witness: witness)
        } catch {
            throw chained.failed(error, witness)
        }
    }

    /// Sends a request once. What need not wait stands in functions of its own: see ``HTTPHops``.
    private nonisolated(nonsending) func exchange(_ chained: ChainedRequest) async throws -> HTTPTransportResponse {
        guard let exchange = try begin(chained) else { return try await exchangeWaiting(chained) }
        await exchange.run()
        return try exchange.takeResponse()
    }

    @inline(never)
    private nonisolated(nonsending) func exchangeWaiting(
        _ chained: ChainedRequest
    ) async throws -> HTTPTransportResponse {
        try check(chained)
        let witness = witness(of: chained)
        do {
            return chained.concluded(try await transport.send(outgoing(chained, witness)), witness)
        } catch {
            throw chained.failed(error, witness)
        }
    }

    @inline(never)
    private func check(_ chained: ChainedRequest) throws(HTTPClientError) {
        guard !middlewares.isEmpty else { return }
        try RequestCheck.check(chained.request.head, body: chained.request.body)
        try chained.request.timeouts.validate()
    }

    @inline(never)
    private func outgoing(
        _ chained: ChainedRequest, _ witness: ExchangeWitness?
    ) throws(HTTPClientError) -> HTTPTransportRequest {
        let request = chained.request
        var timeouts = request.timeouts
        if let remaining = request.call.remaining { timeouts.total = min(timeouts.total ?? remaining, remaining) }
        guard timeouts.total != .zero else { throw .totalPassed }
        return HTTPTransportRequest(
            head: request.head, at: request.url, body: request.body, timeouts: timeouts, limits: request.limits,
            isIdempotent: request.declaredIdempotence, observer: witness?.observer)
    }

    @inline(never)
    private func witness(of chained: ChainedRequest) -> ExchangeWitness? {
        let request = chained.request
        let call = request.call.isObserved ? request.call : nil
        let observers = request.observers
        guard call != nil || !observers.isEmpty else { return nil }
        let exchange = request.call.nextExchange()
        return ExchangeWitness(clock: request.call.clock) { event in
            for observer in observers { observer(event, exchange) }
            call?.told(event, by: exchange)
        }
    }
}

/// A request of the chain as an object, so that whatever awaits its answer holds a reference: see ``HTTPHops``.
final class ChainedRequest: Sendable {
    let request: HTTPClientRequest

    init(_ request: HTTPClientRequest) { self.request = request }

    @inline(never)
    fileprivate func concluded(_ response: HTTPTransportResponse, _ witness: ExchangeWitness?) -> HTTPTransportResponse
    {
        var response = response
        witness?.responded(response)
        if witness != nil || request.attempt > 1 { response.body.attach(witness, to: request) }
        return response
    }

    @inline(never)
    fileprivate func failed(_ error: any Error, _ witness: ExchangeWitness?) -> any Error {
        let error = (error as? HTTPClientError)?.after(request) ?? error
        witness?.failed(error)
        return error
    }
}

/// A request on its way through a transport.
struct BegunExchange {
    fileprivate let exchange: any TransportExchange
    fileprivate let chained: ChainedRequest
    fileprivate let witness: ExchangeWitness?

    nonisolated(nonsending) func run() async { await exchange.run() }

    @inline(never)
    func takeResponse() throws -> HTTPTransportResponse {
        do {
            return chained.concluded(try exchange.takeResponse(), witness)
        } catch {
            throw chained.failed(error, witness)
        }
    }
}

extension HTTPBody {
    /// Lets a witness see how the body ends.
    fileprivate mutating func attach(_ witness: ExchangeWitness?, to request: HTTPClientRequest) {
        guard let reader = handle.claim() else { return }  // a transport's own business
        self = HTTPBody(
            framing: framing, contentLength: contentLength,
            source: WitnessedSource(reader, witness: witness) { $0.after(request) })
    }
}

extension HTTPClientError {
    /// The error, with how often the request was tried.
    fileprivate func after(_ request: HTTPClientRequest) -> Self {
        var error = self
        error.attempts = request.attempt
        error.waited = request.waited
        return error
    }
}
