// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// Connections that have died while they were idle, as those do that a NAT or a balancer has forgotten: a request that
/// may be repeated does not notice, and its body is whole.
@Suite(.timeLimit(.minutes(1)))
struct DeadConnectionTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    /// Long enough that all who ask at once have connections of their own.
    private static let first: [RawServer.Step] = [.readHead, .pause(.milliseconds(200)), .send(answer), .readHead]
    private static let healthy: [RawServer.Step] = [.readHead, .readBody(), .send(answer), .loop]
    /// Dies of the next request's head.
    private static let reset = first + [.reset]

    /// Asks so many times at once that all old connections are there.
    private func openConnections(_ count: Int, to server: RawServer, _ client: HTTPClient) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { _ = try await client.get(server.url("/first")).body.collect(upTo: 2) }
            }
            try await group.waitForAll()
        }
        #expect(server.connections.count == count)
    }

    @Test func sixOfThemDoNotFailARequest() async throws {
        let reset = Self.reset
        let server = try RawServer(reset, reset, reset, reset, reset, reset, Self.healthy)
        defer { server.stop() }
        try await withClient { client, _ in
            try await openConnections(6, to: server, client)
            let response = try await client.get(server.url("/second"))
            #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
        }
        #expect(server.heads.filter { $0.contains("/second") }.count <= 3)
    }

    /// The server closes each connection a moment after its answer, so that some die just when they are used again.
    /// libcurl then may have taken something of the body that it could not send, and does not ask for that again.
    @Test(arguments: [10, 300_000], [true, false]) func everyBodyArrivesWhole(size: Int, isStream: Bool) async throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 >> 8) }
        let server = try RawServer([.readHead, .readBody(), .send(Self.answer), .pause(.milliseconds(3))])
        defer { server.stop() }
        try await withClient { client, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<200 {
                            let body =
                                isStream
                                ? HTTPRequestBody.stream(Pieces(bytes, size: 100_000), isReplayable: true)
                                : .bytes(bytes)
                            #expect(try await client.put(server.url(), body: body).status == .ok)
                            try await Task.sleep(for: .microseconds(.random(in: 0...6_000)))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        let whole = server.connections.filter(\.isBodyWhole).flatMap(\.bodies)
        #expect(whole.count == 800)
        let expected = BodyRecord(of: bytes)
        #expect(whole.allSatisfy { $0 == expected })
    }

    /// What is not to be repeated had a new connection at once, so that it does not meet a dead one.
    @Test func aPostMeetsNoDeadOne() async throws {
        let server = try RawServer(Self.reset, Self.healthy)
        defer { server.stop() }
        try await withClient { client, _ in
            try await openConnections(1, to: server, client)
            #expect(try await client.post(server.url("/second"), body: .text("hello")).status == .ok)
        }
        #expect(server.heads.filter { $0.contains("/second") }.count == 1)
    }

    /// libcurl sends a request again on a new connection if the one that was there before turns out dead.
    @Test func aRefusalOfTheSecondConnectionIsTheProxys() async throws {
        let steps: [RawServer.Step] = [
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .readHead, .reset,
        ]
        let server = try RawServer(steps)
        defer { server.stop() }
        let proxy = try TestProxy(.socks)
        defer { proxy.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .always(try .init("socks5h://127.0.0.1:\(proxy.port)"), except: [])
        try await withClient(transport: configuration) { client, _ in
            _ = try await client.get(server.url("/a")).body.collect(upTo: 2)
            proxy.refuse()
            let (error, _) = await failure { _ = try await client.get(server.url("/b")) }
            #expect(proxy.seen.count == 2)
            #expect(error?.code == .proxyRefused, "\(String(describing: error))")
            #expect(error?.message.hasPrefix("through the proxy socks5h://127.0.0.1:") == true)
            #expect(error?.requestDisposition == .maybeProcessed)
        }
    }
}
