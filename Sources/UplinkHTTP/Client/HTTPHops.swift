// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// A call on its way: one request after another, as the redirects lead. Used by one task.
///
/// Everything that an `async` function holds, including every copy that the compiler makes, takes memory for as long as
/// a response is awaited. So the call is held here, once, and whatever need not wait is done by functions that are not
/// `async` and are kept from being inlined into one.
final class HTTPHops {
    @exclusivity(unchecked) private var machine: RedirectMachine  // what changes it calls no other code
    private let chain: MiddlewareChain
    private var call: HTTPCall { machine.call }
    /// The result of the last request; nil if it led elsewhere. Nothing of such a response is kept, because its sender
    /// may be waiting for the body to be gone.
    @exclusivity(unchecked) private var arrival: Result<HTTPTransportResponse, any Error>?
    /// The body of a response that led elsewhere.
    private var passed: HTTPBody?

    init(_ machine: consuming RedirectMachine, _ chain: MiddlewareChain) {
        (self.machine, self.chain) = (machine, chain)
    }

    /// Sends requests until a response does not lead elsewhere.
    @inline(__always)
    nonisolated(nonsending) func response() async throws -> HTTPClientResponse {
        while true {
            if let exchange = try begin() {
                await exchange.run()
                takeArrival(of: exchange)
            } else {
                await ask()
            }
            if let answer = try answer() { return answer }
            await discard()
        }
    }

    /// Begins to send the request, if nothing has to be waited for first.
    @inline(never)
    private func begin() throws -> BegunExchange? {
        guard chain.mayBegin else { return nil }
        do {
            return try chain.begin(machine.request, of: call)
        } catch {
            throw failed(error)
        }
    }

    /// Stores in `arrival` the result of a request that was begun.
    @inline(never)
    private func takeArrival(of exchange: BegunExchange) { arrival = Result { try exchange.takeResponse() } }

    /// Sends the request, and stores its result in `arrival`.
    @inline(never)
    private nonisolated(nonsending) func ask() async {
        do {
            let request = HTTPClientRequest(machine.request, redirects: machine.history, call)
            arrival = .success(try await chain.send(ChainedRequest(request)))
        } catch {
            arrival = .failure(error)
        }
    }

    /// Drops a response that led elsewhere.
    @inline(never)
    private nonisolated(nonsending) func discard() async {
        let body = passed.take()
        await body?.discardIfShort()
    }

    /// Returns the caller's response; nil if the one that has arrived leads elsewhere and there is another hop.
    @inline(never)
    private func answer() throws -> HTTPClientResponse? {
        do {
            guard let arrival = arrival.take() else { throw CancellationError() }  // called only when there is one
            let response = try arrival.get()
            if response.status.kind == .redirection, try machine.received(response.head) == .follow {
                passed = response.body
                call.redirected(to: machine.url.redacted)
                return nil
            }
            let teller = call.isFollowed ? response.teller : nil
            let answer = try deliver(response)
            call.settled(by: teller)
            return answer
        } catch {
            throw failed(error)
        }
    }

    private func deliver(_ response: consuming HTTPTransportResponse) throws(HTTPClientError) -> HTTPClientResponse {
        if machine.decodesContent, !response.isPlain, !response.hasOwnCodings {
            response.body = try ContentCoding.decoded(
                response.body, of: response.head, limits: machine.configuration.limits)
        }
        if machine.configuration.limits.requiresFramedBodies, response.body.framing == .untilClose {
            throw HTTPClientError(
                .unframedBody, phase: .body, requestDisposition: .responseStarted,
                message: "the server announces no length, and `requiresFramedBodies` is set; "
                    + "ask the server to send Content-Length or chunks, or allow unframed bodies")
        }
        return HTTPClientResponse(response, url: machine.url.text, redirects: machine.history.map(\.text))
    }

    private func failed(_ error: any Error) -> any Error {
        var error = error
        if let known = error as? HTTPClientError {
            // A server that redirected has seen the request, and may have carried it out.
            let earlier = machine.history.isEmpty ? call.disposition : .responseStarted
            error = known.concerning(machine).following(earlier)
        }
        call.failed(error)
        return error
    }
}
