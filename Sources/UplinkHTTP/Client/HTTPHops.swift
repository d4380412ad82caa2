// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// A call on its way: one request after the other, as the redirects lead. One task's.
///
/// What an `async` function holds, every copy that the compiler makes of it included, takes memory for as long as an
/// answer is awaited. So the call is held here, once, and what need not wait is done by functions that are not `async`,
/// and are kept from becoming part of one.
final class HTTPHops {
    @exclusivity(unchecked) private var machine: RedirectMachine  // what changes it calls nobody
    private let timeouts: HTTPTimeouts
    private let chain: MiddlewareChain
    private let call: HTTPCall
    /// What the last request has brought.
    private var arrival: Result<HTTPTransportResponse, any Error>?

    init(
        _ request: HTTPRequest, of url: HTTPURL?, body: HTTPRequestBody, timeouts: HTTPTimeouts,
        settings: ClientSettings, chain: MiddlewareChain, _ call: HTTPCall
    ) throws(HTTPClientError) {
        machine = try RedirectMachine(
            request, of: url, body: body, isIdempotent: call.options.isIdempotent,
            sensitiveFields: call.options.sensitiveFields, settings: settings)
        (self.timeouts, self.chain, self.call) = (timeouts, chain, call)
    }

    /// Sends requests until an answer is none that leads elsewhere.
    nonisolated(nonsending) func response() async throws -> HTTPClientResponse {
        while true {
            if let exchange = try begin() {
                await exchange.run()
                take(exchange)
            } else {
                await ask()
            }
            if let answer = try answer() { return answer }
            await discard()
        }
    }

    /// Begins to send the request, where nothing has to be waited for before.
    @inline(never)
    private func begin() throws -> BegunExchange? {
        guard chain.mayBegin else { return nil }
        do {
            return try chain.begin(request())
        } catch {
            throw failed(error)
        }
    }

    @inline(never)
    private func take(_ exchange: BegunExchange) { arrival = Result { try exchange.takeResponse() } }

    /// Sends the request, and leaves what comes of it in `arrival`.
    @inline(never)
    private nonisolated(nonsending) func ask() async {
        do {
            arrival = .success(try await chain.send(request()))
        } catch {
            arrival = .failure(error)
        }
    }

    /// Lets go of an answer that leads elsewhere.
    @inline(never)
    private nonisolated(nonsending) func discard() async {
        let response = try? arrival?.get()
        arrival = nil
        await response?.body.discardIfShort()
    }

    @inline(never)
    private func request() -> ChainedRequest {
        ChainedRequest(
            HTTPClientRequest(
                head: machine.request, at: machine.url, body: machine.body, timeouts: timeouts,
                isIdempotent: machine.isIdempotent, redirects: machine.history, settings: machine.settings, call: call))
    }

    /// What the caller gets; nil when there is another hop.
    @inline(never)
    private func answer() throws -> HTTPClientResponse? {
        do {
            guard let response = try arrival?.get() else { return nil }
            switch try machine.received(response.head) {
            case .deliver:
                arrival = nil
                let response = try deliver(response)
                call.settled()
                return response
            case .follow:
                call.tell(.redirected(to: machine.url.redacted))
                return nil
            }
        } catch {
            throw failed(error)
        }
    }

    private func deliver(_ response: HTTPTransportResponse) throws(HTTPClientError) -> HTTPClientResponse {
        var body = response.body
        if machine.decodesContent {
            body = try ContentCoding.decoded(body, of: response.head, limits: machine.configuration.limits)
        }
        if machine.configuration.limits.requiresFramedBodies, body.framing == .untilClose {
            throw HTTPClientError(
                .unframedBody, phase: .body, requestDisposition: .responseStarted,
                message: "the server announces no length, and `requiresFramedBodies` is set; "
                    + "ask the server to send Content-Length or chunks, or allow unframed bodies")
        }
        return HTTPClientResponse(
            head: response.head, url: machine.url.text, redirects: machine.history.map(\.text), body: body)
    }

    private func failed(_ error: any Error) -> any Error {
        let error = (error as? HTTPClientError)?.concerning(machine) ?? error
        call.failed(error)
        return error
    }
}
