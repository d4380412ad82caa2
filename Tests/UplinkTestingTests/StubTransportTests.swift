// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkCore
import UplinkHTTP

@testable import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct StubTransportTests {
    private let transport = StubTransport()
    private var client: HTTPClient { HTTPClient(transport: transport) }

    @Test func answersComeInTurnAndTheLastStays() async throws {
        transport.answer("http://a.example/", .text("one"), .text("two"))
        var texts: [String] = []
        for _ in 0..<3 {
            let body = try await client.get("http://a.example/").body.collect(upTo: 10)
            texts.append(String(decoding: body, as: UTF8.self))
        }
        #expect(texts == ["one", "two", "two"])
        #expect(transport.requests.count == 3)
    }

    @Test(arguments: ["http://a.example", "HTTP://A.example:80/", "http://a.example/#top", "http://a.example/x/.."])
    func aURLIsTheSameHoweverItIsWritten(_ url: String) async throws {
        transport.answer(url, .text("one"))
        transport.answer("http://a.example/", .text("other"))  // replaces it
        transport.answer(.put, url, .text("put"))
        #expect(try await client.get(url).body.collect(upTo: 10) == Array("other".utf8))
        #expect(try await client.put("http://a.example/", body: .none).body.collect(upTo: 10) == Array("put".utf8))
    }

    @Test func whatIsNotStubbedIsAnErrorThatSaysSo() async throws {
        let error = await #expect(throws: HTTPClientError.self) { try await client.get("http://a.example/x") }
        #expect(error?.message.contains("nothing is stubbed for http://a.example/x") == true)
    }

    @Test func aBodyCanBreakOff() async throws {
        let ending = HTTPClientError(.connectionReset, phase: .body, message: "reset")
        transport.answer("http://a.example/", .broken(ending, after: [[1, 2]]))
        let response = try await client.get("http://a.example/")
        let error = await #expect(throws: HTTPClientError.self) { try await response.body.collect(upTo: 10) }
        #expect(error?.code == .connectionReset)
        #expect(error?.requestDisposition == .responseStarted)
    }

    @Test func aCancelledTaskSendsNothing() async throws {
        transport.answer("http://a.example/", .text("never"))
        let client = client
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await client.post("http://a.example/", body: .bytes([1]))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.isEmpty)
    }

    @Test func aBodyIsAsLongAsItsLengthSays() async throws {
        transport.answer("http://short.example/", .response(headers: [.contentLength: "10"], pieces: [[1, 2, 3]]))
        transport.answer("http://long.example/", .response(headers: [.contentLength: "2"], pieces: [[1, 2, 3]]))
        let codes: [String: HTTPClientError.Code] = [
            "http://short.example/": .truncated, "http://long.example/": .invalidFraming,
        ]
        for (url, code) in codes {
            let response = try await client.get(url)
            let error = await #expect(throws: HTTPClientError.self) { try await response.body.collect(upTo: 10) }
            #expect(error?.code == code)
            #expect(error?.requestDisposition == .responseStarted)
        }
    }

    @Test func silenceEndsWithTheTask() async throws {
        transport.answer("http://a.example/", .silence)
        let client = client
        let task = Task { try await client.get("http://a.example/") }
        try await eventually { !transport.requests.isEmpty }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func delaysAreOnTheTestsClock() async throws {
        let clock = ManualClock()
        transport.answer("http://a.example/", .text("late").after(.seconds(9), on: clock))
        let client = client
        let task = Task { try await client.get("http://a.example/").head.status.code }
        try await clock.advance(by: .seconds(9))
        #expect(try await task.value == 200)
    }

    @Test func methodsHaveAnswersOfTheirOwnAndTheLastRuleComesFirst() async throws {
        transport.answer("http://a.example/", .text("any"))
        transport.answer(.head, "http://a.example/", .text("", status: .gone))
        #expect(try await client.get("http://a.example/").status == .ok)
        #expect(try await client.head("http://a.example/").status == .gone)
        transport.answer("http://a.example/", .text("", status: .created))
        #expect(try await client.get("http://a.example/").status == .created)
        #expect(try await client.head("http://a.example/").status == .created)
    }

    @Test func answersForOneRequestRunOut() async throws {
        transport.answer("http://a.example/", .text("always"))
        transport.answerOnce(.get, "http://a.example/", .text("once"))
        var lengths: [Int64?] = []
        for _ in 0..<3 { lengths.append(try await client.get("http://a.example/").body.contentLength) }
        #expect(lengths == [4, 6, 6])
        transport.answerOnce("http://b.example/", .text("once"))
        _ = try await client.get("http://b.example/")
        await #expect(throws: HTTPClientError.self) { try await client.get("http://b.example/") }
        transport.answerOnce("http://c.example/", .text("1"))
        transport.answerOnce("http://c.example/", .text("22"))
        lengths = []
        for _ in 0..<2 { lengths.append(try await client.get("http://c.example/").body.contentLength) }
        #expect(lengths == [2, 1])
        transport.answer("http://a.example/", .text("anew"))
        #expect(transport.unused == ["http://a.example/"])
    }

    @Test func predicatesAndClosuresAnswer() async throws {
        transport.respond { request in .text(request.head.path ?? "") }
        transport.answer(where: { $0.head.headerFields[.accept] == "x" }, .text("", status: .notAcceptable))
        let body = try await client.get("http://a.example/p").body.collect(upTo: 10)
        #expect(body == Array("/p".utf8))
        #expect(try await client.get("http://a.example/p", headers: [.accept: "x"]).status == .notAcceptable)
    }

    @Test func allMethodsAndTheirBodiesAreRecorded() async throws {
        transport.respond { _ in .text("a") }
        let url = "http://a.example/"
        let pieces = AsyncStream<[UInt8]> { continuation in
            for piece in [[1], [2, 3]] as [[UInt8]] { continuation.yield(piece) }
            continuation.finish()
        }
        _ = try await client.get(url)
        _ = try await client.post(url, body: .bytes([1]))
        _ = try await client.put(url, body: .stream(pieces))
        _ = try await client.patch(url, body: .bytes([]))
        _ = try await client.delete(url)
        #expect(transport.requests.map(\.head.method) == [.get, .post, .put, .patch, .delete])
        #expect(transport.bodies == [nil, [1], [1, 2, 3], [], nil])
    }

    @Test func whatWasNotUsedIsTold() async throws {
        transport.answer("http://a.example/", .text("1"), .text("2"), .text("3"))
        transport.answer(.head, "http://b.example/", .text("b"))
        transport.answer("the odd one", where: { _ in false }, .text("c"))
        _ = try await client.get("http://a.example/")
        #expect(
            transport.unused == [
                "http://a.example/: 1 of 3 answers were used", "HEAD http://b.example/", "the odd one",
            ])
        for _ in 0..<2 { _ = try await client.get("http://a.example/") }
        _ = try await client.head("http://b.example/")
        #expect(transport.unused == ["the odd one"])
    }

    @Test func aBodyComesPieceByPieceOnTheTestsClock() async throws {
        let clock = ManualClock()
        let pieces: [[UInt8]] = [[1], [2, 3], [4]]
        transport.answer("http://a.example/", .response(pieces: pieces).pausing(.seconds(2), on: clock))
        let response = try await client.get("http://a.example/")
        let task = Task {
            var pieces: [[UInt8]] = []
            for try await chunk in response.body { pieces.append(chunk.bytes) }
            return pieces
        }
        for _ in pieces { try await clock.advance(by: .seconds(2)) }
        #expect(try await task.value == pieces)
        try clock.checkNobodySleeps()
    }

    @Test func aStalledBodyEndsWithItsReader() async throws {
        transport.answer("http://a.example/", .stalled(after: [[1]]))
        let response = try await client.get("http://a.example/")
        let task = Task { try await response.body.collect(upTo: 10) }
        for _ in 0..<100 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func anEmptyBodyAndAHeadEndAtOnce() async throws {
        transport.answer("http://a.example/", .text("hello"))
        let head = try await client.head("http://a.example/")
        #expect(head.body.framing == .none)
        #expect(head.body.contentLength == 5)
        #expect(try await head.body.collect(upTo: 0).isEmpty)
        transport.answer("http://a.example/", .response(.noContent, pieces: [[1]]))
        #expect(try await client.get("http://a.example/").body.collect(upTo: 0).isEmpty)
    }

    // MARK: Timeouts, on the test's clock

    /// Both fail where nothing keeps the timeouts: the calls never end.
    @Test(arguments: [HTTPTimeouts(firstByte: nil, total: .seconds(10)), HTTPTimeouts(firstByte: .seconds(10))])
    func silenceEndsWithATimeout(_ timeouts: HTTPTimeouts) async throws {
        let clock = ManualClock()
        let transport = StubTransport(clock: clock)
        transport.answer("http://a.example/", .silence)
        let client = HTTPClient(transport: transport, clock: clock)
        let call = Task { try await client.get("http://a.example/", timeouts: timeouts).status }
        try await clock.advance(by: .seconds(9))
        #expect(clock.sleepers.count == 1)
        try await clock.advance(by: .seconds(1))
        let error = await #expect(throws: HTTPClientError.self) { try await call.value }
        #expect(error?.code == (timeouts.total == nil ? .firstByteTimeout : .totalTimeout))
        #expect(error?.requestDisposition == .maybeProcessed)
        try clock.checkNobodySleeps()
    }

    @Test(arguments: [HTTPTimeouts(stall: nil, total: .seconds(10)), HTTPTimeouts(stall: .seconds(10))])
    func aStalledBodyEndsWithATimeout(_ timeouts: HTTPTimeouts) async throws {
        let clock = ManualClock()
        let transport = StubTransport(clock: clock)
        transport.answer("http://a.example/", .stalled(after: [[1]]))
        let client = HTTPClient(transport: transport, clock: clock)
        let response = try await client.get("http://a.example/", timeouts: timeouts)
        let reading = Task { try await response.body.collect(upTo: 10) }
        try await clock.advance(by: .seconds(10))
        let error = await #expect(throws: HTTPClientError.self) { try await reading.value }
        #expect(error?.code == (timeouts.total == nil ? .stallTimeout : .totalTimeout))
        #expect(error?.requestDisposition == .responseStarted)
        try clock.checkNobodySleeps()
    }

    @Test func aReadersLimitIsKept() async throws {
        let clock = ManualClock()
        let transport = StubTransport(clock: clock)
        transport.answer("http://a.example/", .stalled(after: [[1]]))
        let response = try await HTTPClient(transport: transport, clock: clock).get("http://a.example/")
        let reading = Task { try await response.body.collect(upTo: 10, within: .seconds(5)) }
        try await clock.advance(by: .seconds(5))
        let error = await #expect(throws: HTTPClientError.self) { try await reading.value }
        #expect(error?.code == .totalTimeout)
    }

    @Test func whatComesInTimeComesAndTheTotalGoesOn() async throws {
        let clock = ManualClock()
        let transport = StubTransport(clock: clock)
        transport.answer(
            "http://a.example/",
            .response(pieces: [[1], [2]]).after(.seconds(4), on: clock).pausing(.seconds(4), on: clock))
        let client = HTTPClient(transport: transport, clock: clock)
        let reading = Task {
            let response = try await client.get("http://a.example/", timeouts: HTTPTimeouts(total: .seconds(10)))
            return try await response.body.collect(upTo: 10)
        }
        for _ in 1...2 { try await clock.advance(by: .seconds(4), sleepers: 2) }
        try await clock.advance(by: .seconds(2), sleepers: 2)  // the second piece comes too late
        let error = await #expect(throws: HTTPClientError.self) { try await reading.value }
        #expect(error?.code == .totalTimeout)
        try clock.checkNobodySleeps()
    }

    /// As a real transport's.
    @Test func aBodyThatIsOverBringsNoMore() async throws {
        let ends = Locked(0)
        let body = StubBody([[1], [2]], .complete, expecting: nil, pause: nil, nil) { _, _ in ends.withLock { $0 += 1 }
        }
        #expect(try await body.next()?.count == 1)
        body.cancel()
        for _ in 1...2 { await #expect(throws: CancellationError.self) { try await body.next() } }
        #expect(ends.withLock { $0 } == 1)
    }
}
