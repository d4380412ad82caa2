// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import UplinkHTTP

extension HTTPEvent {
    /// The event as a word.
    var kind: String {
        switch self {
        case .queued: "queued"
        case .started: "started"
        case .connected: "connected"
        case .sent: "sent"
        case .interim: "interim"
        case .head(let status): "head \(status.code)"
        case .redirected(let url): "redirected \(url)"
        case .retrying(let attempt, let pause, let reason): "retrying \(attempt) \(pause) \(reason)"
        case .finished: "finished"
        case .failed(let error, _): error.map { "failed \($0.code)" } ?? "failed"
        }
    }
}

extension HTTPEvents {
    /// All events as words, to the end.
    func kinds() async -> [String] {
        var kinds: [String] = []
        for await event in self { kinds.append(event.kind) }
        return kinds
    }
}

/// Answers by itself at a path, and where there is no other answer.
private struct Cache: HTTPMiddleware {
    var kept = HTTPTransportResponse(head: HTTPResponse(status: .ok), body: HTTPBody([1]))

    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        if request.head.path == "/kept" { return kept }
        do { return try await next(request) } catch { return kept }
    }
}

/// Hands an answer on, and keeps its head.
private struct Keeping: HTTPMiddleware {
    let kept = Locked<HTTPTransportResponse?>(nil)

    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        var response = try await next(request)
        let answer = response
        response.body = HTTPBody([1])
        kept.withLock { [response] in $0 = response }
        return answer
    }
}

/// Puts the answer together anew.
private struct Rebuilding: HTTPMiddleware {
    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        let response = try await next(request)
        return HTTPTransportResponse(head: response.head, body: response.body)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct EventTests {
    private let clock = ManualClock()
    private let events = HTTPEvents()
    private let url = "http://a.example/"
    private var options: HTTPRequestOptions { HTTPRequestOptions(events: events) }

    @Test func anExchangeIsToldFromBeginningToEnd() async throws {
        let transport = StubTransport()
        transport.answer(url, .text("hello").after(.seconds(2), on: clock))
        let task = Task { [options] in
            try await HTTPClient(transport, clock: clock).get(url, options: options).collected(upTo: 10)
        }
        try await clock.advance(by: .seconds(2))
        _ = try await task.value
        var last: HTTPEvent?
        var kinds: [String] = []
        for await event in events {
            kinds.append(event.kind)
            last = event
        }
        #expect(kinds == ["queued", "started", "connected", "head 200", "finished"])
        guard case .finished(let timings) = last else { return }
        #expect(timings.total == .seconds(2))
        #expect(timings.receivedBytes == 5)
    }

    @Test func aBodysWayOutIsTold() async throws {
        let transport = StubTransport()
        transport.answer(url, .text("hello"))
        let client = HTTPClient(transport, clock: clock)
        _ = try await client.post(url, body: .bytes([1, 2]), options: options).collected(upTo: 10)
        #expect(await events.kinds() == ["queued", "started", "connected", "sent", "head 200", "finished"])
    }

    @Test(arguments: [true, false]) func redirectsAndAttemptsAreOneStoryWithOneEnd(_ tellsEvents: Bool) async throws {
        let transport = StubTransport(tellsEvents: tellsEvents)
        transport.answer(url, .redirect(to: "/b?c"))
        transport.answerOnce(nil, "\(url)b?c", .error(.maybeProcessed), .response(.badGateway), .text("b"))
        var policy = HTTPRetryPolicy()
        policy.initialPause = .zero
        let client = HTTPClient(transport, .retry(policy), clock: clock)
        _ = try await client.get(url, options: options).collected(upTo: 10)
        let kinds = await events.kinds()
        let steps = ["queued", "started", "connected"]
        let beginning = tellsEvents ? steps : []
        var story = beginning + ["head 302", "redirected http://a.example/b?…"]
        story += beginning + ["retrying 2 0.0 seconds emptyReply/firstByte"]
        story += beginning + ["head 502", "retrying 3 0.0 seconds 502"]
        story += beginning + ["head 200", "finished"]
        #expect(kinds == story)
    }

    @Test(arguments: [true, false]) func aDroppedBodyIsAnEnd(_ tellsEvents: Bool) async throws {
        let transport = StubTransport(tellsEvents: tellsEvents)
        transport.answer(url, .text("hello"))
        _ = try await HTTPClient(transport, clock: clock).get(url, options: options).status
        #expect(await events.kinds().suffix(2) == ["head 200", "failed"])
    }

    @Test(arguments: [true, false]) func aBrokenBodyIsAnEndWithItsError(_ tellsEvents: Bool) async throws {
        let transport = StubTransport(tellsEvents: tellsEvents)
        transport.answer(url, .broken(.maybeProcessed, after: [[1]]))
        let response = try await HTTPClient(transport, clock: clock).get(url, options: options)
        _ = await clientError { _ = try await response.body.collect(upTo: 10) }
        #expect(await events.kinds().last == "failed emptyReply")
    }

    @Test(arguments: [true, false]) func anAnswerWithoutABodyEndsAtOnce(_ tellsEvents: Bool) async throws {
        let transport = StubTransport(tellsEvents: tellsEvents)
        transport.answer(url, .text("hello"))
        let response = try await HTTPClient(transport, clock: clock).head(url, options: options)
        #expect(await events.kinds().suffix(2) == ["head 200", "finished"])
        #expect(response.body.contentLength == 5)
    }

    @Test(arguments: [true, false]) func whatAMiddlewareAnswersAfterAFailureIsFinished(
        _ tellsEvents: Bool
    ) async throws {
        let transport = StubTransport(tellsEvents: tellsEvents)
        transport.answer(url, .error(.notSent))
        let metrics = Notes<HTTPMetrics>()
        let client = HTTPClient(transport, .metrics { metrics.add($0) }, Cache(), clock: clock)
        #expect(try await client.get(url, options: options).collected(upTo: 1).body == [1])
        #expect(await events.kinds().last == "finished")
        #expect(metrics.all.map(\.label) == ["200"])
    }

    @Test func theHeadOfAnotherCallsExchangeIsAMiddlewaresAnswer() async throws {
        let transport = StubTransport()
        transport.answerOnce(nil, url, .text("a"), .error(.notSent))
        let keeping = Keeping()
        _ = try await HTTPClient(transport, keeping, clock: clock).get(url, options: .init(events: HTTPEvents()))
        let kept = try #require(keeping.kept.withLock { $0 })
        _ = try await HTTPClient(transport, Cache(kept: kept), clock: clock).get(url, options: options)
        #expect(await events.kinds().last == "finished")
    }

    /// The redirect's own body was let go of.
    @Test func whatAMiddlewareAnswersAfterARedirectIsFinished() async throws {
        let transport = StubTransport()
        let piece = [UInt8](repeating: 0, count: 20_000)
        transport.answer(url, .response(.found, headers: [.location: "/kept"], pieces: [piece]))
        _ = try await HTTPClient(transport, Cache(), clock: clock).get(url, options: options)
        #expect(await events.kinds().suffix(3) == ["head 302", "redirected http://a.example/kept", "finished"])
    }

    @Test func aBodyInAnAnswerThatAMiddlewareMakesIsStillTheExchanges() async throws {
        let transport = StubTransport()
        transport.answer(url, .broken(.maybeProcessed, after: [[1]]))
        let response = try await HTTPClient(transport, Rebuilding(), clock: clock).get(url, options: options)
        _ = await clientError { _ = try await response.body.collect(upTo: 10) }
        #expect(await events.kinds().last == "failed emptyReply")
    }

    @Test func aBodyThatBreaksBeforeItsHeadIsTakenIsAFailure() {
        var machine = OutcomeMachine()
        #expect(machine.told(.failed(nil, HTTPTimings()), by: 1) == nil)
        var other = machine
        #expect(machine.settled(by: 1)?.kind == "failed")
        #expect(other.settled(by: nil)?.kind == "finished")
    }

    /// A middleware may ask again and then return the earlier answer.
    @Test(arguments: [true, false]) func theEndIsThatOfTheExchangeWhoseAnswerItIs(_ isWhole: Bool) {
        var timings = HTTPTimings()
        timings.receivedBytes = 7
        let end = isWhole ? HTTPEvent.finished(timings) : .failed(nil, timings)
        for endsFirst in [true, false] {
            var machine = OutcomeMachine()
            _ = machine.told(.queued, by: 1)
            if endsFirst { #expect(machine.told(end, by: 1) == nil) }
            _ = machine.told(.queued, by: 2)
            #expect(machine.told(.finished(HTTPTimings()), by: 2) == nil)
            let settled = machine.settled(by: 1)
            #expect(machine.told(.interim(.continue), by: 2) == nil)
            let last = endsFirst ? settled : machine.told(end, by: 1)
            #expect(endsFirst || settled == nil)
            #expect(last?.kind == (isWhole ? "finished" : "failed"))
            #expect(machine.receivedBytes == 7 && machine.phase == .ended)
        }
    }

    @Test func cancellingIsAnEnd() async throws {
        let transport = StubTransport(tellsEvents: false)
        transport.answer(url, .silence)
        let task = Task { [options] in try await HTTPClient(transport, clock: clock).get(url, options: options) }
        try await eventually { transport.requests.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(await events.kinds() == ["failed"])
    }

    @Test(arguments: ["http://a.example/", "nonsense"]) func whatIsNeverSentEndsToo(_ url: String) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.requiresHTTPS = true
        let client = HTTPClient(transport: StubTransport(), configuration: configuration)
        _ = await clientError { _ = try await client.get(url, options: options) }
        #expect(await events.kinds() == ["failed invalidURL"])
    }

    @Test func eventsAreForOneRequest() async throws {
        let transport = StubTransport()
        transport.answer(url, .text("a"))
        let client = HTTPClient(transport, clock: clock)
        _ = try await client.get(url, options: options)
        let error = await clientError { _ = try await client.get(url, options: options) }
        #expect(error?.code == .invalidConfiguration)
        #expect(transport.requests.count == 1)
    }

    @Test func aSlowReaderMissesTheOldestAndNeverTheLast() async throws {
        let events = HTTPEvents(keeping: 2)
        for count in 0..<10 { events.send(.sent(bytes: Int64(count), of: nil)) }
        events.send(.finished(HTTPTimings()))
        events.send(.queued)
        #expect(events.missed == 9)
        var iterator = events.makeAsyncIterator()
        guard case .sent(bytes: 9, of: nil) = await iterator.next() else {
            Issue.record("expected the newest one before the last")
            return
        }
        #expect(await iterator.next()?.kind == "finished")
        #expect(await iterator.next()?.kind == nil)
    }

    @Test func aReaderWaitsAndACancelledOneLeaves() async throws {
        let reader = Task { [events] in await events.kinds() }
        let cancelled = Task { [events] in await events.kinds() }
        cancelled.cancel()
        #expect(await cancelled.value.isEmpty)
        for _ in 0..<100 { await Task.yield() }
        events.send(.queued)
        events.send(.finished(HTTPTimings()))
        #expect(await reader.value == ["queued", "finished"])
    }

    @Test func whatAnOldExchangeStillSaysIsNotTold() {
        var machine = OutcomeMachine()
        #expect(machine.told(.queued, by: 1)?.kind == "queued")
        #expect(machine.told(.queued, by: 2)?.kind == "queued")
        #expect(machine.told(.failed(nil, HTTPTimings()), by: 1) == nil)
        #expect(machine.settled(by: 2) == nil)
        #expect(machine.told(.finished(HTTPTimings()), by: 2)?.kind == "finished")
        #expect(machine.phase == .ended)
        #expect(machine.told(.queued, by: 3) == nil)
        #expect(machine.failed(nil) == nil)
        #expect(machine.exchanges == 2)
    }
}
