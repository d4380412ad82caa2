// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// One attempt to send a request: what its errors say about it, and who observes its end.
struct Attempt: Sendable {
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
