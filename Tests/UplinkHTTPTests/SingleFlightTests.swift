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

    private func client(upTo maximum: Int = 100) -> HTTPClient {
        HTTPClient(transport, .singleFlight(upTo: maximum, ignoring: [number]), clock: clock)
    }

    /// Starts requests of which each waits before the next begins.
    private func get(
        _ client: HTTPClient, _ count: Int, headers: HTTPFields = [:]
    ) async -> [Task<HTTPCollectedResponse, any Error>] {
        var tasks: [Task<HTTPCollectedResponse, any Error>] = []
        for place in 0..<count {
            var headers = headers
            headers[number] = "\(place)"
            tasks.append(
                Task { [url, headers] in try await client.get(url, headers: headers).collected(upTo: 100) })
        }
        for _ in 0..<2000 { await Task.yield() }  // so that they have joined
        return tasks
    }

    @Test func thoseWhoAskAtOnceShareOneTransfer() async throws {
        transport.answer(url, .text("hello").after(.seconds(1), on: clock))
        let tasks = await get(client(), 20)
        try await clock.advance(by: .seconds(1))
        for task in tasks { #expect(try await task.value.body == Array("hello".utf8)) }
        #expect(transport.requests.count == 1)
        let later = Task { [client = client(), url] in try await client.get(url).collected(upTo: 100) }
        try await clock.advance(by: .seconds(1))
        #expect(try await later.value.status == .ok)
        #expect(transport.requests.count == 2)
    }

    @Test func otherFieldsMethodsAndURLsAreOtherTransfers() async throws {
        transport.respond { [clock] _ in .text("a").after(.seconds(1), on: clock) }
        let client = client()
        var tasks = await get(client, 2)
        tasks += await get(client, 2, headers: [.authorization: "Bearer a"])
        tasks += await get(client, 1, headers: [.authorization: "Bearer b"])
        let head = Task { [url] in try await client.head(url).status }
        let other = Task { [url] in try await client.get("\(url)?").status }
        try await clock.advance(by: .seconds(1), sleepers: 5)
        for task in tasks { _ = try await task.value }
        _ = (try await head.value, try await other.value)
        #expect(transport.requests.count == 5)
    }

    @Test func errorsAreShared() async throws {
        transport.answer(url, .error(.maybeProcessed).after(.seconds(1), on: clock))
        let tasks = await get(client(), 5)
        try await clock.advance(by: .seconds(1))
        for task in tasks { #expect(await clientError { _ = try await task.value }?.code == .emptyReply) }
        #expect(transport.requests.count == 1)
    }

    @Test func aBodyHasALimitForAll() async throws {
        transport.answer(url, .text("hello").after(.seconds(1), on: clock))
        let tasks = await get(client(upTo: 4), 3)
        try await clock.advance(by: .seconds(1))
        for task in tasks { #expect(await clientError { _ = try await task.value }?.code == .bodyTooLarge) }
    }

    @Test func whoIsCancelledLeavesTheOthersAlone() async throws {
        transport.answer(url, .text("hello").after(.seconds(1), on: clock))
        let tasks = await get(client(), 3)
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
        let client = client()
        let tasks = await get(client, 3)
        try await clock.waitForSleepers()
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { _ = try await task.value } }
        try await eventually { clock.sleepers.isEmpty }
        #expect(try await client.get(url).collected(upTo: 9).body == Array("b".utf8))
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
