// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// What a caller's ``UplinkHTTP/HTTPEvents`` tell of real exchanges.
@Suite(.timeLimit(.minutes(1)))
struct EventStreamTests {
    private func all(_ events: HTTPEvents) async -> [HTTPEvent] {
        var all: [HTTPEvent] = []
        for await event in events { all.append(event) }
        return all
    }

    private func connections(_ events: [HTTPEvent]) -> [HTTPConnection] {
        events.compactMap { if case .connected(let connection) = $0 { connection } else { nil } }
    }

    @Test func aRedirectAndItsTargetAreOneStory() async throws {
        let redirect = "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        try await withServer([.readHead, .send(redirect), .readHead, .send(answer), .loop]) { server in
            try await withClient { client, _ in
                let events = HTTPEvents()
                _ = try await client.get(server.url(), options: .init(events: events)).collected(upTo: 10)
                let told = await all(events)
                #expect(connections(told).map(\.isReused) == [false, true])
                #expect(connections(told).allSatisfy { $0.remoteAddress == "127.0.0.1:\(server.port)" })
                let statuses: [Int] = told.compactMap { if case .head(let status) = $0 { status.code } else { nil } }
                #expect(statuses == [302, 200])
                #expect(told.contains { if case .redirected(server.url("/b")) = $0 { true } else { false } })
                guard case .finished(let timings) = told.last else {
                    Issue.record("expected a whole body, got \(String(describing: told.last))")
                    return
                }
                #expect(timings.receivedBytes == 5)
                #expect(timings.firstByte != nil)
                #expect(timings.total > timings.firstByte ?? .zero)
            }
        }
    }

    @Test func aDroppedBodyAndACancelledTaskAreEnds() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nh"
        try await withServer([.readHead, .send(head), .waitForClose], [.readHead, .waitForClose]) { server in
            try await withClient { client, _ in
                let dropped = HTTPEvents()
                _ = try await client.get(server.url(), options: .init(events: dropped)).status
                guard case .failed(nil, _) = await all(dropped).last else {
                    Issue.record("expected the end of a dropped body")
                    return
                }
                let cancelled = HTTPEvents()
                let task = Task { try await client.get(server.url(), options: .init(events: cancelled)) }
                try await eventually { server.heads.count == 2 }
                task.cancel()
                await #expect(throws: CancellationError.self) { _ = try await task.value }
                guard case .failed(nil, let timings) = await all(cancelled).last else {
                    Issue.record("expected the end of a cancelled request")
                    return
                }
                #expect(timings.connection?.remoteAddress == "127.0.0.1:\(server.port)")
            }
        }
    }

    @Test func countersSeeRealBytes() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        try await withServer([.readHead, .send(answer), .loop]) { server in
            let counters = HTTPCounters()
            var configuration = HTTPClient.Configuration()
            configuration.middlewares = [.metrics(to: counters)]
            try await withClient(configuration) { client, _ in
                for _ in 0..<3 { _ = try await client.get(server.url()).collected(upTo: 10) }
            }
            #expect("\(counters)" == "3 requests, 0 sent again, 15 bytes received; 200: 3")
        }
    }
}
