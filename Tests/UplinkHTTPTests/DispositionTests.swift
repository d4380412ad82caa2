// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkHTTP
import UplinkTesting

/// Sends a request that was answered 500 once more.
private struct SendingAgain: HTTPMiddleware {
    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        let response = try await next(request)
        return response.head.status == .internalServerError ? try await next(request) : response
    }
}

/// What errors say of the request, if it was sent more than once by a middleware.
@Suite(.timeLimit(.minutes(1)))
struct DispositionTests {
    private let transport = StubTransport()
    private let clock = ManualClock()
    private let url = "https://a.example/"

    private var retry: HTTPRetryPolicy {
        var policy = HTTPRetryPolicy()
        policy.initialPause = .zero
        return policy
    }

    @Test func afterARefusedTokenARequestIsNotCalledUnsent() async throws {
        transport.answerOnce(.post, url, .text("no", status: .unauthorized), .error(.notSent))
        let client = HTTPClient(transport, try .bearer(for: ["https://a.example"]) { "\($0 ?? "")t" })
        let error = await clientError { _ = try await client.post(url, body: .bytes([1])) }
        #expect(error?.code == .connectionFailed)
        #expect(error?.requestDisposition == .responseStarted)
        #expect(transport.requests.count == 2)
    }

    @Test func norIfTheTotalPassesWhileATokenIsAwaited() async throws {
        transport.answer(url, .text("no", status: .unauthorized))
        let bearer: HTTPBearerAuthentication = try .bearer(for: ["https://a.example"]) { [clock] refused in
            if refused != nil { clock.move(by: .seconds(5)) }
            return "\(refused ?? "")t"
        }
        let client = HTTPClient(transport, bearer, clock: clock)
        let error = await clientError {
            _ = try await client.post(url, body: .bytes([1]), timeouts: HTTPTimeouts(total: .seconds(5)))
        }
        #expect(error?.code == .totalTimeout)
        #expect(error?.requestDisposition == .responseStarted)
        #expect(transport.requests.count == 1)
    }

    /// Neither may the provider's own error say so.
    @Test func norIfTheProviderFails() async throws {
        transport.answer(url, .text("no", status: .unauthorized))
        let client = HTTPClient(
            transport, .retry(retry),
            try .bearer(for: ["https://a.example"]) { refused in
                if refused != nil { throw HTTPClientError.notSent }
                return "t"
            })
        let error = await clientError { _ = try await client.post(url, body: .bytes([1])) }
        #expect(error?.requestDisposition == .responseStarted)
        #expect(transport.requests.count == 1)
    }

    @Test func aRetryDoesNotRepeatWhatAMiddlewareInsideHasSent() async throws {
        transport.answerOnce(
            .post, url, .text("broken", status: .internalServerError), .error(.notSent), .text("twice"))
        let client = HTTPClient(transport, .retry(retry), SendingAgain())
        let error = await clientError { _ = try await client.post(url, body: .bytes([1])) }
        #expect(error?.code == .connectionFailed)
        #expect(error?.requestDisposition == .responseStarted)
        #expect(transport.requests.count == 2)
    }

    /// The server that redirects has not carried it out.
    @Test func whatARedirectLeadsToIsRepeatedAsLongAsItIsUnsent() async throws {
        transport.answer(.post, url, .redirect(to: "/b", status: .temporaryRedirect))
        transport.answerOnce(.post, "\(url)b", .error(.notSent), .text("b"))
        let response = try await HTTPClient(transport, .retry(retry)).post(url, body: .bytes([1]))
        #expect(response.status == .ok)
        #expect(transport.requests.count == 3)
    }
}
