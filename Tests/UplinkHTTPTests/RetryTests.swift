// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct RetryTests {
    private let transport = StubTransport()
    private let clock = ManualClock()
    private let url = "http://a.example/"

    private var client: HTTPClient { HTTPClient(transport, .retry(.longest), clock: clock) }

    @Test func whatFailedIsSentAgainAfterAPause() async throws {
        transport.answerOnce(nil, url, .error(.maybeProcessed), .text("no", status: .badGateway), .text("yes"))
        let task = Task { [client, url] in try await client.get(url).collected(upTo: 10) }
        try await clock.advance(by: .milliseconds(249))
        try await clock.advance(by: .milliseconds(1))
        try await eventually { transport.requests.count == 2 }
        try await clock.advance(by: .milliseconds(500))
        let response = try await task.value
        #expect(response.body == Array("yes".utf8))
        #expect(transport.requests.count == 3)
        #expect(transport.unused.isEmpty)
        try clock.checkNobodySleeps()
    }

    @Test func whatIsNotIdempotentIsSentOnce() async throws {
        transport.answer(url, .error(.maybeProcessed))
        let error = await clientError { _ = try await client.get(url, options: .init(isIdempotent: false)) }
        #expect(error?.code == .emptyReply)
        #expect(error?.attempts == 1)
        #expect(transport.requests.count == 1)
    }

    @Test func aPostIsSentAgainOnlyIfNothingOfItWentOut() async throws {
        transport.answerOnce(.post, url, .error(.notSent), .error(.maybeProcessed), .text("never"))
        let task = Task { [client, url] in try await client.post(url, body: .bytes([1, 2])) }
        try await clock.advance(by: .milliseconds(250))
        let error = await clientError { _ = try await task.value }
        #expect(error?.code == .emptyReply)
        #expect(error?.attempts == 2)
        #expect(transport.bodies == [[1, 2], [1, 2]])
    }

    /// A body that comes once.
    private func onePiece() -> AsyncStream<[UInt8]> {
        AsyncStream { continuation in
            continuation.yield([1])
            continuation.finish()
        }
    }

    @Test func aBodyOfWhichNothingWasSentIsThereAgain() async throws {
        transport.answerOnce(.post, url, .error(.notSent), .text("yes"))
        let task = Task { [client, url] in try await client.post(url, body: .stream(onePiece())).status }
        try await clock.advance(by: .milliseconds(250))
        #expect(try await task.value == .ok)
        #expect(transport.requests.count == 2)
        #expect(transport.bodies.last == [1])
    }

    @Test func aBodyThatIsGoneIsNotSentAgain() async throws {
        transport.answer(.put, url, .error(.maybeProcessed))
        let error = await clientError { _ = try await client.put(url, body: .stream(onePiece())) }
        #expect(error?.attempts == 1)
        let more = AsyncStream<[UInt8]> { $0.finish() }
        transport.answer(.put, url, .text("busy", status: .serviceUnavailable))
        #expect(try await client.put(url, body: .stream(more)).status == .serviceUnavailable)
        #expect(transport.bodies == [[1], []])
    }

    @Test func theLastErrorSaysHowOftenAndHowLong() async throws {
        transport.answer(url, .error(.notSent))
        let task = Task { [client, url] in try await client.get(url, options: .init(isIdempotent: false)) }
        try await clock.advance(by: .milliseconds(250))
        try await eventually { transport.requests.count == 2 }
        try await clock.advance(by: .milliseconds(500))
        let error = await clientError { _ = try await task.value }
        #expect(error?.attempts == 3)
        #expect(error?.waited == .milliseconds(750))
        #expect(error?.description.hasSuffix("(attempt 3, after pauses of 0.75 seconds)") == true)
        #expect(error?.shortDescription == "connectionFailed/connect")
        #expect(transport.requests.count == 3)
    }

    static let firstAttempts: [(StubTransport.Answer, HTTPClientError.RequestDisposition)] = [
        (.error(.notSent), .notSent), (.error(.maybeProcessed), .maybeProcessed),
        (.text("no", status: .serviceUnavailable), .responseStarted),
    ]

    @Test(arguments: firstAttempts) func theLastErrorSaysHowFarAnyAttemptHasCome(
        _ first: StubTransport.Answer, _ disposition: HTTPClientError.RequestDisposition
    ) async throws {
        var twice = HTTPRetryPolicy()
        (twice.maximumAttempts, twice.initialPause) = (2, .zero)
        transport.answerOnce(nil, url, first, .error(.notSent))
        let error = await clientError { [twice] in _ = try await client.get(url, options: .init(retry: twice)) }
        #expect(error?.code == .connectionFailed)
        #expect(error?.requestDisposition == disposition)
    }

    @Test func aPostThatWasRedirectedIsNotCalledUnsent() async throws {
        transport.answer(.post, url, .redirect(to: "/b", status: .seeOther))
        transport.answer("\(url)b", .error(.notSent))
        let plain = HTTPClient(transport, clock: clock)
        let error = await clientError { _ = try await plain.post(url, body: .bytes([1])) }
        #expect(error?.code == .connectionFailed)
        #expect(error?.requestDisposition == .responseStarted)
    }

    @Test func aBodyThatBreaksIsNotBegunAgainAndSaysHowOftenItWasTried() async throws {
        transport.answerOnce(nil, url, .error(.notSent), .broken(.maybeProcessed, after: [[1]]), .text("never"))
        let task = Task { [client, url] in try await client.get(url) }
        try await clock.advance(by: .milliseconds(250))
        let response = try await task.value
        let error = await clientError { _ = try await response.body.collect(upTo: 10) }
        #expect(error?.attempts == 2)
        #expect(transport.requests.count == 2)
    }

    @Test func theServersPauseIsKeptAndItsAnswerIsTheAnswerWhenItIsTooLong() async throws {
        let wait: (String) -> StubTransport.Answer = {
            .response(.tooManyRequests, headers: [.retryAfter: $0], pieces: [[7]])
        }
        transport.answerOnce(nil, url, wait("30"), wait("61"))
        let task = Task { [client, url] in try await client.get(url).collected(upTo: 10) }
        try await clock.advance(by: .seconds(29))
        #expect(transport.requests.count == 1)
        try await clock.advance(by: .seconds(1))
        let response = try await task.value
        #expect(response.status == .tooManyRequests)
        #expect(response.body == [7])
        #expect(transport.requests.count == 2)
    }

    @Test func theTotalCoversAttemptsAndPauses() async throws {
        transport.answer(url, .error(.notSent).after(.seconds(2), on: clock))
        let task = Task { [client, url] in try await client.get(url, timeouts: HTTPTimeouts(total: .seconds(5))) }
        try await clock.advance(by: .seconds(2))  // the first attempt
        try await clock.advance(by: .milliseconds(250))  // a pause
        try await clock.advance(by: .seconds(2))  // the second attempt; 750 ms are left, enough for 500 ms of pause
        try await clock.advance(by: .milliseconds(500))
        try await eventually { transport.requests.count == 3 }
        #expect(transport.requests.map(\.timeouts.total) == [5000, 2750, 250].map { .milliseconds($0) })
        try await clock.advance(by: .seconds(2))  // the stub keeps no timeouts, but nothing follows
        let error = await clientError { _ = try await task.value }
        #expect(error?.attempts == 3)
        try clock.checkNobodySleeps()
    }

    @Test func aPauseBeyondTheTotalIsNotMade() async throws {
        transport.answer(url, .error(.notSent))
        let error = await clientError {
            _ = try await client.get(url, timeouts: HTTPTimeouts(total: .milliseconds(250)))
        }
        #expect(error?.attempts == 1)
        try clock.checkNobodySleeps()
    }

    @Test(arguments: [HTTPClientError.Code.certificateExpired, .certificateUntrusted, .tlsFailed, .closed, .queueFull])
    func whatTimeDoesNotMendIsNotTriedAgain(_ code: HTTPClientError.Code) async throws {
        transport.answer(url, .error(HTTPClientError(code, phase: .tls, message: "no")))
        let error = await clientError { _ = try await client.get(url) }
        #expect(error?.code == code)
        #expect(error?.attempts == 1)
        #expect(transport.requests.count == 1)
    }

    @Test func cancellingEndsAPause() async throws {
        transport.answer(url, .error(.notSent))
        let task = Task { [client, url] in try await client.get(url) }
        try await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(transport.requests.count == 1)
    }

    @Test func aRequestMayHaveAPolicyOfItsOwn() async throws {
        transport.answer(url, .error(.notSent))
        let never = await clientError { _ = try await client.get(url, options: .init(retry: .never)) }
        #expect(never?.attempts == 1)
        var twice = HTTPRetryPolicy.longest
        (twice.maximumAttempts, twice.initialPause) = (2, .zero)
        let withoutMiddleware = HTTPClient(transport, clock: clock)
        let plain = await clientError { _ = try await withoutMiddleware.get(url) }
        #expect(plain?.attempts == 1)
        let error = await clientError { [twice] in
            _ = try await withoutMiddleware.get(url, options: .init(retry: twice))
        }
        #expect(error?.attempts == 2)
        #expect(transport.requests.count == 4)
    }

    @Test func aPolicyThatMakesNoSenseIsAnError() async throws {
        for change: @Sendable (inout HTTPRetryPolicy) -> Void in [
            { $0.maximumAttempts = 0 }, { $0.initialPause = .seconds(-1) }, { $0.maximumPause = .seconds(-1) },
            { $0.maximumRetryAfter = .seconds(-1) },
        ] {
            var policy = HTTPRetryPolicy()
            change(&policy)
            let error = await clientError { [policy] in _ = try await client.get(url, options: .init(retry: policy)) }
            #expect(error?.code == .invalidConfiguration)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func aRedirectsTargetIsRetriedAlone() async throws {
        transport.answer(url, .redirect(to: "/b"))
        transport.answerOnce(nil, "\(url)b", .error(.maybeProcessed), .text("b"))
        let task = Task { [client, url] in try await client.get(url).collected(upTo: 10) }
        try await clock.advance(by: .milliseconds(250))
        #expect(try await task.value.redirects == [url])
        #expect(transport.requests.compactMap(\.head.path) == ["/", "/b", "/b"])
    }
}
