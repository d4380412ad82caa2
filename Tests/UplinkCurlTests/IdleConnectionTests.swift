// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

/// Connections that nobody uses end in time, though no request comes that would make libcurl look at them.
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct IdleConnectionTests {
    private static let answer: [RawServer.Step] = [
        .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop,
    ]

    private func configuration(_ time: Duration) -> CurlTransport.Configuration {
        var configuration = CurlTransport.Configuration()
        configuration.maximumIdleTime = time
        return configuration
    }

    private func get(_ server: RawServer, _ client: HTTPClient) async throws {
        let body = try await client.get(server.url()).body.collect(upTo: 2)
        #expect(body == Array("ok".utf8))
    }

    @Test func allEndWithoutAnotherRequest() async throws {
        let time = Duration.milliseconds(200)
        try await withServer(Self.answer) { server in
            try await withClient(transport: configuration(time)) { client, _ in
                for _ in 0..<3 {
                    let response = try await client.post(server.url(), body: .text("x"))
                    #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
                }
                try await get(server, client)
                let end = ContinuousClock.now
                try await eventually("the server sees all ends") {
                    server.connections.allSatisfy { $0.closedAt != nil }
                }
                let last = try #require(server.connections.compactMap(\.closedAt).max())
                #expect(last - end > time / 2)
                try await get(server, client)
            }
            #expect(server.heads.count == 5)
            #expect(server.connections.count == 4, "an ended connection was used again")
        }
    }

    /// The timer is set for the first connection, but another one has been used since.
    @Test func aConnectionThatIsUsedStays() async throws {
        try await withServer(Self.answer) { server in
            try await withClient(transport: configuration(.milliseconds(400))) { client, _ in
                let end = ContinuousClock.now + .milliseconds(1200)
                var (last, longest) = (ContinuousClock.now, Duration.zero)
                while ContinuousClock.now < end {
                    try await get(server, client)
                    longest = max(longest, ContinuousClock.now - last)
                    last = .now
                    try await Task.sleep(for: .milliseconds(50))
                }
                // On a busy machine it may have been idle for too long after all.
                #expect(server.connections.count == 1 || longest > .milliseconds(300))
            }
        }
    }

    /// libcurl does not want to know about its socket.
    @Test func thatOfAPausedBodyStays() async throws {
        let large: [RawServer.Step] = [
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\n\r\n"), .fill(8_000_000), .loop,
        ]
        try await withServer(large) { server in
            try await withClient(transport: configuration(.milliseconds(100))) { client, _ in
                for _ in 0..<2 {
                    let response = try await client.get(server.url())
                    try await Task.sleep(for: .milliseconds(400))
                    #expect(try await response.body.discard() == 8_000_000)
                }
            }
            #expect(server.heads.count == 2)
        }
    }
}
