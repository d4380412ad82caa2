// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkHTTP
import UplinkTesting

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
    }

    @Test func silenceEndsWithTheTask() async throws {
        transport.answer("http://a.example/", .silence)
        let client = client
        let task = Task { try await client.get("http://a.example/") }
        while transport.requests.isEmpty { await Task.yield() }
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
}
