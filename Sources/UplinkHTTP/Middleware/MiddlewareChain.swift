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

/// A request in the chain as an object, so that whatever awaits the response holds one reference: see ``HTTPHops``.
final class ChainedRequest: Sendable {
    let request: HTTPClientRequest

    init(_ request: HTTPClientRequest) { self.request = request }
}

/// A request on its way through a transport, as an object for the same reason.
final class BegunExchange: Sendable {
    private let exchange: any TransportExchange
    private let attempt: Attempt

    fileprivate init(_ exchange: any TransportExchange, _ attempt: Attempt) {
        (self.exchange, self.attempt) = (exchange, attempt)
    }

    /// Sends the request and returns when the final head has arrived, or when there will be none. Called once.
    ///
    /// Its closures capture this object alone, and so need no room.
    @inline(__always)
    nonisolated(nonsending) func run() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { exchange.start(Suspension($0)) }
        } onCancel: {
            exchange.cancel()
        }
    }

    @inline(never)
    func takeResponse() throws -> HTTPTransportResponse {
        do {
            var response = try exchange.takeResponse()
            attempt.conclude(&response)
            return response
        } catch {
            throw attempt.failed(error)
        }
    }
}

/// One attempt to send a request: what its errors say about it, and who observes its end.
private struct Attempt: Sendable {
    let number: Int
    let waited: Duration
    /// The call, if a middleware may send its request more than once.
    private let call: HTTPCall?
    /// Whether a middleware has asked for codings, or for a part, by itself.
    private var hasOwnCodings = false
    /// Nil until the request goes out, and if nobody observes it.
    private var witness: ExchangeWitness?

    /// Makes the attempt of a request that no middleware has seen.
    init() { (number, waited, call) = (1, .zero, nil) }

    init(_ request: HTTPClientRequest) {
        (number, waited, call) = (request.attempt, request.waited, request.call)
    }

    /// Returns the request as it goes out. From here on it is an exchange, which observers hear of.
    mutating func outgoing(
        _ request: HTTPTransportRequest, of call: HTTPCall, _ observers: [HTTPClientRequest.Observer]
    ) throws(HTTPClientError) -> HTTPTransportRequest {
        var outgoing = request
        if let remaining = call.remaining {
            outgoing.timeouts.total = min(outgoing.timeouts.total ?? remaining, remaining)
        }
        guard outgoing.timeouts.total != .zero else { throw .totalPassed }
        if self.call != nil { hasOwnCodings = request.headerFields.asksForOwnCodings }
        witness = ExchangeWitness(of: call, observers)
        if let witness { outgoing.observer = witness.observer }
        return outgoing
    }

    func conclude(_ response: inout HTTPTransportResponse) {
        call?.reached(.responseStarted)
        response.hasOwnCodings = hasOwnCodings
        guard witness != nil || number > 1 else { return }
        response.exchange = witness?.exchange
        witness?.responded(response)
        guard let reader = response.body.handle.reader() else { return }  // the transport's own business
        response.body = HTTPBody(
            framing: response.body.framing, contentLength: response.body.contentLength,
            source: WitnessedSource(reader, witness: witness, completing: completed))
    }

    func failed(_ error: any Error) -> any Error {
        guard var known = error as? HTTPClientError else {
            call?.reached(.maybeProcessed)  // nobody says more
            witness?.failed(error)
            return error
        }
        if let call {
            known = known.following(call.disposition)
            call.reached(known.requestDisposition)
        }
        let error = completed(known)
        witness?.failed(error)
        return error
    }

    /// Returns the error with the number of attempts.
    private func completed(_ error: HTTPClientError) -> HTTPClientError {
        var error = error
        (error.attempts, error.waited) = (number, waited)
        return error
    }
}

extension ExchangeWitness {
    /// Makes a witness for all observers; nil if there are none.
    fileprivate convenience init?(of call: HTTPCall, _ observers: [HTTPClientRequest.Observer]) {
        let follower = call.isObserved ? call : nil
        guard follower != nil || !observers.isEmpty else { return nil }
        let exchange = call.nextExchange()
        self.init(of: exchange, clock: call.clock) { event in
            for observer in observers { observer(event, exchange) }
            follower?.told(event, by: exchange)
        }
    }
}
