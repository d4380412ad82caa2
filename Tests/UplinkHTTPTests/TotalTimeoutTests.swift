// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkHTTP
import UplinkTesting

@Suite(.timeLimit(.minutes(1)))
struct TotalTimeoutTests {
    private let transport = StubTransport()
    private let clock = ManualClock()
    private let url = "http://a.example/"

    @Test func redirectsHaveWhatIsLeft() async throws {
        transport.answer(url, .redirect(to: "/b").after(.seconds(3), on: clock))
        transport.answer("\(url)b", .text("b"))
        let task = Task { [transport, clock, url] in
            try await HTTPClient(transport, clock: clock).get(url, timeouts: HTTPTimeouts(total: .seconds(10)))
        }
        try await clock.advance(by: .seconds(3))
        _ = try await task.value
        #expect(transport.requests.map(\.timeouts.total) == [.seconds(10), .seconds(7)])
    }

    @Test func nothingIsSentOnceItHasPassed() async throws {
        transport.answer(url, .redirect(to: "/b").after(.seconds(3), on: clock))
        let task = Task { [transport, clock, url] in
            try await HTTPClient(transport, clock: clock).get(url, timeouts: HTTPTimeouts(total: .seconds(2)))
        }
        try await clock.advance(by: .seconds(3))
        let error = await clientError { _ = try await task.value }
        #expect(error?.code == .totalTimeout)
        #expect(error?.url == "\(url)b")
        #expect(error?.redirects == [url])
        #expect(error?.requestDisposition == .responseStarted)  // to the redirect
        #expect(transport.requests.count == 1)
    }

    @Test func aTotalBeyondAllTimeIsAVeryLongOne() async throws {
        transport.answer(url, .text("a"))
        let client = HTTPClient(transport, clock: clock)
        try await clock.advance(by: .seconds(1), sleepers: 0)
        _ = try await client.get(url, timeouts: HTTPTimeouts(total: Duration(attoseconds: .max)))
        #expect(transport.requests.map(\.timeouts.total) == [.nanoseconds(Int64.max)])
    }

    @Test func everyMethodTakesTimeouts() async throws {
        transport.respond { _ in .text("a") }
        let client = HTTPClient(transport, clock: clock)
        let (timeouts, others) = (HTTPTimeouts(total: .seconds(1)), HTTPTimeouts(total: .seconds(2)))
        let options = HTTPRequestOptions(timeouts: others)
        _ = try await client.get(url, timeouts: timeouts)
        _ = try await client.head(url, timeouts: timeouts)
        _ = try await client.post(url, body: .none, timeouts: timeouts)
        _ = try await client.put(url, body: .none, timeouts: timeouts)
        _ = try await client.patch(url, body: .none, timeouts: timeouts, options: options)
        _ = try await client.delete(url, timeouts: timeouts, options: options)
        _ = try await client.get(url, options: options)
        let totals = transport.requests.map(\.timeouts.total)
        #expect(totals == [1, 1, 1, 1, 1, 1, 2].map { .seconds($0) })
    }

    @Test func withoutATotalThereIsNone() async throws {
        transport.answer(url, .text("a"))
        _ = try await HTTPClient(transport, clock: clock).get(url)
        #expect(transport.requests.map(\.timeouts.total) == [nil])
    }
}
