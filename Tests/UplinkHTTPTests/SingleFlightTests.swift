// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkTesting

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct SingleFlightTests {
    private let transport = StubTransport()
    private let clock = ManualClock()
    private let url = "http://a.example/"
    private let number = HTTPField.Name("X-Request-Number")!

    private func flight(upTo maximum: Int = 100) -> HTTPSingleFlight {
        .singleFlight(upTo: maximum, ignoring: [number])
    }

    private func client(_ flight: HTTPSingleFlight) -> HTTPClient { HTTPClient(transport, flight, clock: clock) }

    /// Starts requests, and returns when all of them wait.
    private func get(
        _ flight: HTTPSingleFlight, _ count: Int, headers: HTTPFields = [:]
    ) async throws -> [Task<HTTPCollectedResponse, any Error>] {
        let client = client(flight)
        let before = flight.waiting
        var tasks: [Task<HTTPCollectedResponse, any Error>] = []
        for place in 0..<count {
            var headers = headers
            headers[number] = "\(place)"
            tasks.append(
                Task { [url, headers] in try await client.get(url, headers: headers).collected(upTo: 100) })
        }
        try await eventually { flight.waiting == before + count }
        return tasks
    }

    @Test func thoseWhoAskAtOnceShareOneTransfer() async throws {
        transport.answer(url, .text("hello").after(.seconds(1), on: clock))
        let tasks = try await get(flight(), 20)
        try await clock.advance(by: .seconds(1))
        for task in tasks { #expect(try await task.value.body == Array("hello".utf8)) }
        #expect(transport.requests.count == 1)
        let later = Task { [client = client(flight()), url] in try await client.get(url).collected(upTo: 100) }
        try await clock.advance(by: .seconds(1))
        #expect(try await later.value.status == .ok)
        #expect(transport.requests.count == 2)
    }

    @Test func whoWasRedirectedByAnotherOriginHasATransferOfTheirOwn() async throws {
        transport.answer(url, .text("mine").after(.seconds(1), on: clock))
        transport.answer("http://evil.example/", .redirect(to: url))
        let flight = flight()
        let direct = try await get(flight, 1)
        let client = client(flight)
        let redirected = Task { try await client.get("http://evil.example/").collected(upTo: 100) }
        try await eventually { flight.waiting == 2 && transport.requests.count == 3 }
        try await clock.advance(by: .seconds(1), sleepers: 2)
        #expect(try await direct[0].value.status == .ok)
        #expect(try await redirected.value.status == .ok)
    }

    @Test func otherFieldsMethodsAndURLsAreOtherTransfers() async throws {
        transport.respond { [clock] _ in .text("a").after(.seconds(1), on: clock) }
        let flight = flight()
        let client = client(flight)
        var tasks = try await get(flight, 2)
        tasks += try await get(flight, 2, headers: [.authorization: "Bearer a"])
        tasks += try await get(flight, 1, headers: [.authorization: "Bearer b"])
        let head = Task { [url] in try await client.head(url).status }
        let other = Task { [url] in try await client.get("\(url)?").status }
        try await clock.advance(by: .seconds(1), sleepers: 5)
        for task in tasks { _ = try await task.value }
        _ = (try await head.value, try await other.value)
        #expect(transport.requests.count == 5)
    }

    /// As text they are equal: all that is not UTF-8 is the same, and so are two ways to write one character.
    @Test func fieldsAreComparedAsBytes() async throws {
        transport.respond { [clock] _ in .text("a").after(.seconds(1), on: clock) }
        let user = try #require(HTTPField.Name("X-User"))
        var values = (0xE0...0xEF).map { [UInt8]("M".utf8) + [$0] + "ller".utf8 }
        values += [Array("M\u{FC}ller".utf8), Array("Mu\u{308}ller".utf8)]
        let flight = flight()
        var tasks: [Task<HTTPCollectedResponse, any Error>] = []
        let client = client(flight)
        for value in values + values {
            let headers: HTTPFields = .init([HTTPField(name: user, lenientValue: value)])
            tasks.append(Task { [url] in try await client.get(url, headers: headers).collected(upTo: 100) })
        }
        try await eventually { flight.waiting == tasks.count }
        try await clock.advance(by: .seconds(1), sleepers: values.count)
        for task in tasks { _ = try await task.value }
        #expect(transport.requests.count == values.count)
    }

    /// Each may have an identity of its own, though the configuration be the same.
    @Test func clientsShareNothing() async throws {
        transport.respond { [clock] _ in .text("a").after(.seconds(1), on: clock) }
        let flight = flight()
        let tasks = try await get(flight, 2) + get(flight, 2)
        try await clock.advance(by: .seconds(1), sleepers: 2)
        for task in tasks { _ = try await task.value }
        #expect(transport.requests.count == 2)
    }

    @Test func whoHasTimeLeftAsksAgainWhenTheFirstOnesIsOver() async throws {
        let late = HTTPClientError(.totalTimeout, phase: .firstByte, message: "late")
        transport.answerOnce(nil, url, .error(late).after(.seconds(10), on: clock), .text("in time"))
        let flight = flight()
        let client = client(flight)
        func start() -> Task<HTTPCollectedResponse, any Error> {
            Task { [url] in
                try await client.get(url, timeouts: HTTPTimeouts(total: .seconds(10))).collected(upTo: 100)
            }
        }
        let first = start()
        try await clock.advance(by: .seconds(9), sleepers: 2)
        let second = start()
        try await eventually { flight.waiting == 2 }
        try await clock.advance(by: .seconds(1), sleepers: 3)
        #expect(await clientError { _ = try await first.value }?.code == .totalTimeout)
        #expect(try await second.value.body == Array("in time".utf8))
    }

    /// A middleware may have given the first one less time.
    @Test func whoHasNoTotalAsksAgainToo() async throws {
        let late = HTTPClientError(.totalTimeout, phase: .firstByte, message: "late")
        transport.answerOnce(nil, url, .error(late).after(.seconds(10), on: clock), .text("in time"))
        let flight = flight()
        let client = client(flight)
        let first = Task { [url] in try await client.get(url).collected(upTo: 100) }
        try await clock.waitForSleepers()
        let second = Task { [url] in try await client.get(url).collected(upTo: 100) }
        try await eventually { flight.waiting == 2 }
        try await clock.advance(by: .seconds(10))
        #expect(await clientError { _ = try await first.value }?.code == .totalTimeout)
        #expect(try await second.value.body == Array("in time".utf8))
    }

    /// One of them has sent it for all.
    @Test func whoseTotalPassesMeanwhileIsNotToldThatNothingWasSent() async throws {
        transport.answer(url, .silence)
        let flight = flight()
        let client = client(flight)
        let calls = (0..<2).map { _ in
            Task { [url] in
                await clientError { _ = try await client.get(url, timeouts: HTTPTimeouts(total: .seconds(10))) }
            }
        }
        try await eventually { flight.waiting == 2 && transport.requests.count == 1 }
        try await clock.advance(by: .seconds(10), sleepers: 2)
        for call in calls {
            let error = await call.value
            #expect(error?.code == .totalTimeout)
            #expect(error?.requestDisposition == .maybeProcessed)
        }
    }

    /// The provider asks for what waits for its token.
    @Test func whatIsAskedInTheCourseOfARequestDoesNotWaitForIt() async throws {
        transport.respond { .text($0.head.headerFields[.authorization] ?? "nobody") }
        let made = Locked<HTTPClient?>(nil)
        let url = "https://a.example/"
        let bearer: HTTPBearerAuthentication = try .bearer(for: [url]) { _ in
            let body = try await made.withLock { $0 }?.get(url).collected(upTo: 100).body ?? []
            return String(decoding: body, as: UTF8.self)
        }
        let client = HTTPClient(transport, flight(), bearer, clock: clock)
        made.withLock { $0 = client }
        #expect(try await client.get(url).collected(upTo: 100).body == Array("Bearer nobody".utf8))
        made.withLock { $0 = nil }
    }

    @Test func eventsTellTheFirstOfTheTransferAndAllOfTheEnd() async throws {
        transport.answer(url, .text("hello").after(.seconds(1), on: clock))
        let flight = flight()
        let client = client(flight)
        let (first, second) = (HTTPEvents(), HTTPEvents())
        let one = Task { [url] in try await client.get(url, options: .init(events: first)).collected(upTo: 9) }
        try await clock.waitForSleepers()
        let other = Task { [url] in try await client.get(url, options: .init(events: second)).collected(upTo: 9) }
        try await eventually { flight.waiting == 2 }
        try await clock.advance(by: .seconds(1))
        _ = (try await one.value, try await other.value)
        #expect(await first.kinds() == ["queued", "started", "connected", "head 200", "finished"])
        #expect(await second.kinds() == ["finished"])
        #expect(transport.requests.count == 1)
    }

    @Test func errorsAreShared() async throws {
        transport.answer(url, .error(.maybeProcessed).after(.seconds(1), on: clock))
        let tasks = try await get(flight(), 5)
        try await clock.advance(by: .seconds(1))
        for task in tasks { #expect(await clientError { _ = try await task.value }?.code == .emptyReply) }
        #expect(transport.requests.count == 1)
    }

    @Test func aBodyHasALimitForAll() async throws {
        transport.answer(url, .text("hello").after(.seconds(1), on: clock))
        let tasks = try await get(flight(upTo: 4), 3)
        try await clock.advance(by: .seconds(1))
        for task in tasks { #expect(await clientError { _ = try await task.value }?.code == .bodyTooLarge) }
    }

    @Test func whoIsCancelledLeavesTheOthersAlone() async throws {
        transport.answer(url, .text("hello").after(.seconds(1), on: clock))
        let tasks = try await get(flight(), 3)
        for task in tasks[..<2] {  // the one that began it among them
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
        try await clock.advance(by: .seconds(1))
        #expect(try await tasks[2].value.body == Array("hello".utf8))
        #expect(transport.requests.count == 1)
    }

    @Test func theLastCancellationEndsTheTransferAndTheNextRequestBeginsAnew() async throws {
        transport.answerOnce(nil, url, .text("a").after(.seconds(1), on: clock), .text("b"))
        let flight = flight()
        let tasks = try await get(flight, 3)
        try await clock.waitForSleepers()
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { _ = try await task.value } }
        try await eventually { clock.sleepers.isEmpty }
        #expect(try await client(flight).get(url).collected(upTo: 9).body == Array("b".utf8))
    }

    /// Who joins has not the deadline of who began.
    @Test func workForAllHasNobodysDeadline() async throws {
        let work = SharedWork<Int, Bool>()
        let performer = NetworkOperationPerformer(monitor: StubNetworkMonitor(.online()), clock: clock)
        let hasDeadline = try await performer.perform(completingWithin: .seconds(1)) {
            #expect(OperationDeadline.current?.remaining == .seconds(1))
            return try await work.value(for: 1) { OperationDeadline.current != nil }
        }
        #expect(!hasDeadline)
    }

    @Test func aThousandInAStormAllEndAndNothingIsKept() async throws {
        let work = SharedWork<Int, Int>()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let task = Task {
                        try await work.value(for: number % 7) {
                            await Task.yield()
                            try Task.checkCancellation()
                            return number % 7
                        }
                    }
                    if number % 3 == 0 { task.cancel() }
                    let value = try? await task.value
                    #expect(value == number % 7 || number % 3 == 0)
                }
            }
        }
        #expect(work.isIdle)
    }
}
