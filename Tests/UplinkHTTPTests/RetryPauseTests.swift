// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

/// Answers 503, with a body that takes a second of the test's clock, or as long as its reader allows.
private struct Refusing: HTTPTransport {
    let clock: ManualClock
    let headers: HTTPFields
    let totals: Notes<Duration?>

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        totals.add(request.timeouts.total)
        return HTTPTransportResponse(
            head: HTTPResponse(status: .serviceUnavailable, headerFields: headers),
            body: HTTPBody(framing: .chunked, contentLength: nil, source: Dripping(clock)))
    }
}

private final class Dripping: HTTPBodySource {
    private let clock: ManualClock
    private let left = Locked(Duration.seconds(1))

    init(_ clock: ManualClock) { self.clock = clock }

    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        clock.move(by: left.withLock { $0 })
        return nil
    }

    func cancel() {}

    func limit(toRemaining total: Duration) { left.withLock { $0 = min($0, total) } }

    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try work()
    }

    var trailerFields: HTTPFields? { nil }
}

/// To read what is left of a refusal is part of the pause behind it.
@Suite(.timeLimit(.minutes(1)))
struct RetryPauseTests {
    private let clock = ManualClock()
    private let totals = Notes<Duration?>()

    private func client(_ headers: HTTPFields = [:]) -> HTTPClient {
        HTTPClient(Refusing(clock: clock, headers: headers, totals: totals), .retry(.longest), clock: clock)
    }

    @Test func theTotalIsNotOverrun() async throws {
        let task = Task { [client = client([.retryAfter: "1"])] in
            try await client.get("http://a.example/", timeouts: HTTPTimeouts(total: .milliseconds(1100))).status
        }
        try await eventually { totals.all.count == 2 }
        #expect(totals.all == [.milliseconds(1100), .milliseconds(100)])
        #expect(try await task.value == .serviceUnavailable)
    }

    @Test func aPauseThatIsShorterThanTheReadingEndsIt() async throws {
        let task = Task { [client = client()] in
            try await client.get("http://a.example/", timeouts: HTTPTimeouts(total: .milliseconds(600))).status
        }
        try await eventually { totals.all.count == 2 }
        #expect(totals.all == [.milliseconds(600), .milliseconds(350)])
        #expect(try await task.value == .serviceUnavailable)
    }

    /// A connection that can be used again is worth a second.
    @Test func withoutATotalThereIsASecondForIt() async throws {
        #expect(try await client().get("http://a.example/").status == .serviceUnavailable)
        #expect(totals.all == [nil, nil, nil])
        #expect(clock.now.offset == .seconds(2))
    }
}
