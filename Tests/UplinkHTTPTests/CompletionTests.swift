// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct CompletionTests {
    private typealias Outcome = Result<HTTPCollectedResponse, any Error>
    private let transport = StubTransport()
    private let notes = Notes<Result<HTTPCollectedResponse, any Error>>()
    private let url = "http://a.example/"
    private var client: HTTPClient { HTTPClient(transport: transport) }

    private func outcome() async throws -> Outcome {
        try await eventually { !notes.all.isEmpty }
        for _ in 0..<100 { await Task.yield() }
        #expect(notes.all.count == 1)
        return try #require(notes.all.first)
    }

    @Test func theWholeAnswerComesOnce() async throws {
        transport.answer(url, .redirect(to: "/b"))
        transport.answer("\(url)b", .text("hello", status: .notFound))
        client.get(from: url) { [notes] in notes.add($0) }
        let response = try await outcome().get()
        #expect(response.status == .notFound)
        #expect(response.body == Array("hello".utf8))
        #expect(response.url == "\(url)b")
        #expect(response.redirects == [url])
    }

    @Test func itIsNeverCalledOnTheCallersStack() async throws {
        transport.answer(url, .text("a"))
        let caller = Notes<UInt>()
        // A lock that is not recursive: a completion on this stack would wait for itself.
        let lock = Locked(0)
        for _ in 0..<50 {
            lock.withLock { count in
                client.get(from: url) { _ in
                    lock.withLock { $0 += 1 }
                    caller.add(0)
                }
                count += 1
            }
        }
        try await eventually { caller.all.count == 50 }
        #expect(lock.withLock { $0 } == 100)
    }

    @Test func errorsAreOutcomesAndSoAreWrongURLs() async throws {
        client.get(from: "nonsense") { [notes] in notes.add($0) }
        let outcome = try await outcome()
        #expect(throws: HTTPClientError.self) { try outcome.get() }
    }

    @Test func cancellingIsIdempotentAndAnOutcome() async throws {
        transport.answer(url, .silence)
        let task = client.get(from: url) { [notes] in notes.add($0) }
        try await eventually { transport.requests.count == 1 }
        for _ in 0..<3 { task.cancel() }
        let outcome = try await outcome()
        #expect(throws: CancellationError.self) { try outcome.get() }
        task.cancel()
        #expect(notes.all.count == 1)
    }

    @Test func aBodyThatIsTooLargeIsAnError() async throws {
        transport.answer(url, .text("hello"))
        client.execute(try HTTPRequest(parsing: url), upTo: 4) { [notes] in notes.add($0) }
        let outcome = try await outcome()
        let error = #expect(throws: HTTPClientError.self) { try outcome.get() }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func aForgottenHandleNeitherCancelsNorLeaks() async throws {
        final class Kept: Sendable {}
        let clock = ManualClock()
        transport.answer(url, .text("a").after(.seconds(1), on: clock))
        weak var weak: Kept?
        do {
            let kept = Kept()
            weak = kept
            client.get(from: url) { [notes] in
                withExtendedLifetime(kept) {}
                notes.add($0)
            }
        }
        try await clock.advance(by: .seconds(1))
        #expect(try await outcome().get().status == .ok)
        try await eventually("the completion is released") { weak == nil }
    }
}
