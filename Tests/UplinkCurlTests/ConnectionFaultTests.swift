// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct ConnectionFaultTests {
    @Test func refusedConnectionsSaySo() async throws {
        let (descriptor, port) = try LoopbackSocket.listen(backlog: 1)
        close(descriptor)
        try await withClient { client, _ in
            let limit = Timing.slack(.seconds(2))
            let time = await Timing.measure({ $0 < limit }) {
                let (error, time) = await failure { _ = try await client.get("http://127.0.0.1:\(port)/?secret=1") }
                #expect(error?.code == .connectionFailed)
                #expect(error?.errno == ECONNREFUSED)
                #expect(error?.phase == .connect)
                #expect(error?.requestDisposition == .notSent)
                #expect(error?.isNetworkFailure == true)
                #expect(error?.description.contains("secret") == false)
                return time
            }
            #expect(time < limit)
        }
    }

    @Test func aResetBeforeTheReplyMayHaveBeenProcessed() async throws {
        try await withServer([.readHead, .reset]) { server in
            try await withClient { client, _ in
                let (error, _) = await failure { _ = try await client.get(server.url()) }
                #expect(error?.code == .connectionReset)
                #expect(error?.requestDisposition == .maybeProcessed)
            }
        }
    }

    @Test(arguments: ["Content-Length: 100\r\n", ""]) func aResetInTheBodyIsAnError(_ field: String) async throws {
        let head = "HTTP/1.1 200 OK\r\n\(field)\r\nabc"
        try await withServer([.readHead, .send(head), .pause(.milliseconds(100)), .reset]) { server in
            try await withClient { client, _ in
                let (error, _) = await failure { _ = try await client.get(server.url()).body.discard() }
                #expect(error?.code == .connectionReset)
                #expect(error?.requestDisposition == .responseStarted)
                #expect(error?.receivedBytes == 3)
            }
        }
    }

    /// It must not look like the end of the connection, which is the end of a body without a length.
    @Test(arguments: ["Content-Length: 100\r\n", ""]) func aResetOfAPausedBodyIsAnError(_ field: String) async throws {
        let head = "HTTP/1.1 200 OK\r\n\(field)\r\nabc"
        let script: [RawServer.Step] = [
            .readHead, .send(head), .pause(.milliseconds(50)), .send("def"), .pause(.milliseconds(50)), .reset,
        ]
        var configuration = HTTPClient.Configuration()
        configuration.limits.bufferedBytes = 1  // the second piece pauses
        try await withServer(script) { server in
            try await withClient(configuration) { client, _ in
                let body = try await client.get(server.url()).body
                try await Task.sleep(for: .milliseconds(300))
                let (error, _) = await failure { _ = try await body.discard() }
                #expect(error?.code == .connectionReset)
                #expect(error?.receivedBytes == 6)
            }
        }
    }

    /// The server closes idle connections; the next request must not notice.
    @Test func aDeadIdleConnectionIsReplaced() async throws {
        let script: [RawServer.Step] = [.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
        try await withServer(script) { server in
            try await withClient { client, _ in
                for _ in 0..<200 {
                    let body = try await client.get(server.url()).body.collect(upTo: 2)
                    #expect(body == Array("ok".utf8))
                }
            }
            #expect(server.connections.count >= 200)
        }
    }

    /// What comes on an idle connection is no answer: that of a server which gives up waiting, or sends too much.
    @Test(arguments: [1, 2])
    func whatComesUnaskedIsNotTheNextAnswer(addresses: Int) async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        let script: [RawServer.Step] = [
            .readHead, .send(answer + "right"), .pause(.milliseconds(50)), .send(answer + "wrong"), .loop,
        ]
        try await withServer(script) { server in
            var transport = CurlTransport.Configuration()
            let places = ["127.0.0.2", "127.0.0.1"].suffix(addresses)  // the first refuses
            transport.resolve = ["many.test:\(server.port)": places.compactMap { IPAddress($0) }]
            try await withClient(transport: transport) { client, _ in
                for _ in 0..<3 {
                    let response = try await client.get("http://many.test:\(server.port)/")
                    #expect(try await response.body.collect(upTo: 5) == Array("right".utf8))
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
            #expect(server.connections.count == 3)
        }
    }

    /// The loop has no chance to notice it before the next request goes out.
    @Test func whatComesUnaskedWhileTheLoopIsHeldUpIsNotTheNextAnswer() async throws {
        let first = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"
        let second = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"
        try await withServer(
            [.readHead, .send(first), .pause(.milliseconds(10)), .send(first), .readHead, .waitForClose],
            [.readHead, .send(second), .waitForClose]
        ) { server in
            try await withEventLoop { loop in
                let transport = try CurlTransport(on: loop)
                let client = HTTPClient(transport: transport)
                let answer = try await withTaskExecutorPreference(loop) {
                    _ = try await client.get(server.url()).body.collect(upTo: 10)
                    usleep(60_000)  // on the loop
                    return try await client.get(server.url()).body.collect(upTo: 10)
                }
                #expect(answer == Array("second".utf8))
                await transport.shutdown()
            }
        }
    }

    /// The same while a body of another server waits for its reader.
    @Test func aPausedBodyDoesNotHideWhatComesUnasked() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        let script: [RawServer.Step] = [
            .readHead, .send(answer + "right"), .pause(.milliseconds(50)), .send(answer + "wrong"), .loop,
        ]
        let large = "HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\n\r\n"
        try await withServer([.readHead, .send(large), .fill(8_000_000)]) { other in
            try await withServer(script) { server in
                try await withClient { client, transport in
                    let unread = try await client.get(other.url())
                    try await eventually { transport.bufferedBytes > 500_000 }
                    for _ in 0..<3 {
                        let response = try await client.get(server.url())
                        #expect(try await response.body.collect(upTo: 5) == Array("right".utf8))
                        try await Task.sleep(for: .milliseconds(200))
                    }
                    #expect(try await unread.body.collect(upTo: 8_000_000).count == 8_000_000)
                }
                #expect(server.connections.count == 3)
            }
        }
    }

    /// What comes with an answer, beyond its length, when the next request waits already.
    @Test(arguments: ["Content-Length: 5\r\n\r\n|right", "Transfer-Encoding: chunked\r\n\r\n|5\r\nright\r\n0\r\n\r\n"])
    func whatComesBeyondTheEndIsNotTheNextAnswer(_ answer: String) async throws {
        let parts = answer.split(separator: "|").map(String.init)
        let head = "HTTP/1.1 200 OK\r\n" + parts[0]
        let wrong = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
        // More than libcurl reads at once: what it has read of another answer it drops.
        let script: [RawServer.Step] = [
            .readHead, .send(head), .pause(.milliseconds(50)),
            .send(parts[1] + String(repeating: wrong, count: 10_000)), .loop,
        ]
        try await withServer(script) { server in
            var transport = CurlTransport.Configuration()
            transport.maximumConcurrentTransfersPerHost = 1
            try await withClient(transport: transport) { client, _ in
                try await withThrowingTaskGroup(of: [UInt8].self) { group in
                    for _ in 0..<4 {
                        group.addTask { try await client.get(server.url()).body.collect(upTo: 5) }
                    }
                    for try await body in group { #expect(body == Array("right".utf8)) }
                }
            }
            #expect(server.connections.count == 4)
        }
    }

    /// What libcurl has read with an answer that has no body, or behind the last chunk: the rest of it may still come.
    @Test(arguments: [
        "HEAD 200 OK\r\nContent-Length: 500\r\n\r\n", "GET 204 No Content\r\n\r\n",
        "GET 304 Not Modified\r\nContent-Length: 500\r\n\r\n", "GET 200 OK\r\nContent-Length: 0\r\n\r\n",
        "GET 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nright\r\n0\r\n\r\n",
    ])
    func whatWasReadBehindAnAnswerEndsItsConnection(_ exchange: String) async throws {
        let (method, answer) = (exchange.prefix { $0 != " " }, exchange.drop { $0 != " " })
        let right = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright"
        let wrong = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
        let script: [RawServer.Step] = [
            .readHead, .send("HTTP/1.1" + answer + "<html>not asked for"), .pause(.milliseconds(100)), .send(wrong),
            .waitForClose,
        ]
        try await withServer(script, [.readHead, .send(right), .loop]) { server in
            try await withClient { client, _ in
                let request = try HTTPRequest(
                    parsing: server.url(), method: #require(HTTPRequest.Method(rawValue: String(method))))
                _ = try await client.execute(request).body.discard()
                for _ in 0..<2 {
                    let response = try await client.get(server.url())
                    #expect(try await response.body.collect(upTo: 5) == Array("right".utf8))
                }
            }
            #expect(server.connections.count == 2)
        }
    }

    /// However the connection ends, what had begun to come is no answer, and the request may be tried again.
    @Test(
        arguments: [RawServer.Step.close, .reset],
        ["Content-Le", "Content-Length: 2\r\n", "Transfer-Encoding: chunked\r\nDate"])
    func aHeadThatIsCutOffIsABrokenConnection(_ end: RawServer.Step, _ start: String) async throws {
        let script: [RawServer.Step] = [
            .readHead, .send("HTTP/1.1 200 OK\r\n\(start)"), .pause(.milliseconds(50)), end,
        ]
        try await withServer(script) { server in
            try await withClient { client, _ in
                let (error, _) = await failure { _ = try await client.get(server.url()) }
                #expect(error?.code == .connectionReset)
                #expect(error?.phase == .firstByte)
                #expect(error?.requestDisposition == .responseStarted)
                #expect(error?.url == server.url())
                var policy = HTTPRetryPolicy()
                policy.initialPause = .milliseconds(1)
                _ = await failure { _ = try await client.get(server.url(), options: .init(retry: policy)) }
            }
            #expect(server.heads.count == 1 + HTTPRetryPolicy().maximumAttempts)
        }
    }

    /// As when a server is restarted: each transfer ends once, and none is short and called whole.
    @Test func aHundredBrokenStreamsAreAHundredErrors() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n30d40\r\n"
        try await withServer([.readHead, .send(head), .fill(100_000), .reset]) { server in
            try await withClient { client, transport in
                let errors = await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<100 {
                        group.addTask {
                            do {
                                _ = try await client.get(server.url()).body.discard()
                                return false
                            } catch {
                                return (error as? HTTPClientError)?.isNetworkFailure == true
                            }
                        }
                    }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(errors == 100)
                #expect(await transport.census() == (0, 0))
            }
        }
    }

    // MARK: Several addresses

    @Test func theThirdAddressIsReachedThoughTwoRefuse() async throws {
        // Each has a host of its own, so that no two listeners share a port by chance.
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]) { server in
            let time = try await get(server.port, at: ["127.0.0.2", "127.0.0.3", "127.0.0.1"])
            #expect(time < Timing.slack(.milliseconds(500)))
        }
    }

    @Test func theSecondAddressIsReachedThoughTheFirstIsSilent() async throws {
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]) { server in
            let blackhole = try Blackhole(address: "127.0.0.2", port: server.port)
            defer { blackhole.stop() }
            let time = try await get(server.port, at: ["127.0.0.2", "127.0.0.1"])
            #expect(time < Timing.slack(.milliseconds(1200)))  // half of the connect timeout, and 0.2 s
        }
    }

    private func get(_ port: UInt16, at addresses: [String]) async throws -> Duration {
        var transport = CurlTransport.Configuration()
        transport.resolve = ["many.test:\(port)": addresses.compactMap { IPAddress($0) }]
        return try await withClient(transport: transport) { client, _ in
            let start = ContinuousClock.now
            let response = try await client.get(
                "http://many.test:\(port)/", timeouts: HTTPTimeouts(connect: .seconds(2)))
            #expect(response.status == .ok)
            return ContinuousClock.now - start
        }
    }
}
