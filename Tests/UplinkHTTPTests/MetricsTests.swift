// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct MetricsTests {
    private let clock = ManualClock()
    private let url = "http://a.example:8080/secret?token"

    private func policy() -> HTTPRetryPolicy {
        var policy = HTTPRetryPolicy()
        policy.initialPause = .zero
        return policy
    }

    @Test(arguments: [true, false]) func outsideOfARetryThereIsOneReportInsideOneForEachAttempt(
        _ tellsEvents: Bool
    ) async throws {
        let transport = StubTransport(tellsEvents: tellsEvents)
        transport.answerOnce(nil, url, .error(.maybeProcessed), .text("no", status: .serviceUnavailable), .text("yes"))
        let (outside, inside) = (Notes<HTTPMetrics>(), Notes<HTTPMetrics>())
        let client = HTTPClient(
            transport, .metrics { outside.add($0) }, .retry(policy()), .metrics { inside.add($0) }, clock: clock)
        let response = try await client.get(url)
        #expect(outside.all.isEmpty)  // the body is not there yet
        _ = try await response.body.collect(upTo: 10)
        #expect(outside.all.map(\.label) == ["200"])
        #expect(outside.all.map(\.exchanges) == [3])
        #expect(outside.all.first?.origin == "http://a.example:8080")
        #expect(outside.all.first?.method == "GET")
        #expect(inside.all.map(\.label) == ["emptyReply", "503", "200"])
        #expect(inside.all.map(\.status) == [nil, 503, 200])
        if tellsEvents { #expect(inside.all.map(\.timings.receivedBytes) == [0, 2, 3]) }
    }

    @Test func theTimeIsThatFromTheRequestToTheEndOfTheBody() async throws {
        let transport = StubTransport()
        transport.answer(url, .text("a").after(.seconds(2), on: clock).pausing(.seconds(3), on: clock))
        let notes = Notes<HTTPMetrics>()
        let task = Task { [clock, url] in
            try await HTTPClient(transport, .metrics { notes.add($0) }, clock: clock).get(url).collected(upTo: 9)
        }
        try await clock.advance(by: .seconds(2))
        try await clock.advance(by: .seconds(3))
        _ = try await task.value
        #expect(notes.all.map(\.timings.total) == [.seconds(5)])
    }

    @Test(arguments: [true, false]) func bodiesThatBreakOrAreDroppedAreTold(_ tellsEvents: Bool) async throws {
        let transport = StubTransport(tellsEvents: tellsEvents)
        transport.answerOnce(nil, url, .broken(.maybeProcessed, after: [[1]]), .text("dropped"))
        let counters = HTTPCounters()
        let client = HTTPClient(transport, .metrics(to: counters), clock: clock)
        let response = try await client.get(url)
        _ = await clientError { _ = try await response.body.collect(upTo: 9) }
        _ = try await client.get(url).status
        #expect(counters.counts.outcomes == ["emptyReply": 1, "abandoned": 1])
    }

    @Test(arguments: [true, false]) func anErrorHasNoStatusOfAnEarlierAttempt(_ tellsEvents: Bool) async throws {
        let transport = StubTransport(tellsEvents: tellsEvents)
        transport.answerOnce(nil, url, .text("no", status: .serviceUnavailable), .error(.notSent), .error(.notSent))
        let notes = Notes<HTTPMetrics>()
        let client = HTTPClient(transport, .metrics { notes.add($0) }, .retry(policy()), clock: clock)
        _ = await clientError { _ = try await client.get(url) }
        #expect(notes.all.map(\.label) == ["connectionFailed"])
        #expect(notes.all.map(\.status) == [nil])
    }

    @Test func whatThereIsNoTimeForIsNoExchange() async throws {
        let notes = Notes<HTTPMetrics>()
        let client = HTTPClient(StubTransport(), .metrics { notes.add($0) }, clock: clock)
        let error = await clientError { _ = try await client.get(url, timeouts: HTTPTimeouts(total: .zero)) }
        #expect(error?.code == .totalTimeout)
        #expect(notes.all.map(\.label) == ["totalTimeout"])
        #expect(notes.all.map(\.exchanges) == [0])
    }

    @Test func bytesOfAllAttemptsAreCounted() async throws {
        let transport = StubTransport()
        transport.answerOnce(nil, url, .text("no", status: .serviceUnavailable), .text("yes"))
        let counters = HTTPCounters()
        let client = HTTPClient(transport, .metrics(to: counters), .retry(policy()), clock: clock)
        _ = try await client.put(url, body: .bytes([1, 2])).collected(upTo: 9)
        #expect(counters.counts.sentBytes == 4)
        #expect(counters.counts.receivedBytes == 5)
    }

    @Test func countersAddUpAndCanBeRead() async throws {
        let transport = StubTransport()
        transport.answerOnce(nil, url, .text("12345"), .error(.maybeProcessed), .text("1", status: .notFound))
        let counters = HTTPCounters()
        let client = HTTPClient(transport, .metrics(to: counters), .retry(policy()), clock: clock)
        for _ in 0..<2 { _ = try await client.get(url).collected(upTo: 9) }
        #expect(counters.counts.requests == 2)
        #expect("\(counters)" == "2 requests, 1 sent again, 6 bytes received; 200: 1, 404: 1")
    }
}
