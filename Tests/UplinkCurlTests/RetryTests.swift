// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkHTTP

/// Real servers that fail, and what they see of it.
@Suite(.timeLimit(.minutes(1)), .undisturbed)
struct RetryTests {
    private let answer = RawServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    private func retrying(_ change: (inout HTTPRetryPolicy) -> Void = { _ in }) -> HTTPClient.Configuration {
        var policy = HTTPRetryPolicy()
        policy.initialPause = .milliseconds(10)
        change(&policy)
        var configuration = HTTPClient.Configuration()
        configuration.middlewares = [.retry(policy)]
        return configuration
    }

    @Test func aConnectionThatIsClosedWithoutAWordIsTriedAgain() async throws {
        try await withServer([.readHead], [.readHead, answer]) { server in
            try await withClient(retrying()) { client, _ in
                let response = try await client.get(server.url()).collected(upTo: 10)
                #expect(response.body == Array("ok".utf8))
            }
            #expect(server.heads.count == 2)
        }
    }

    /// A source with one position, as a file that is rewound for each iteration, and on a slow disk.
    private final class Tape: AsyncSequence, AsyncIteratorProtocol, Sendable {
        private let position = Locked(0)

        func makeAsyncIterator() -> Tape {
            position.withLock { $0 = 0 }
            return self
        }

        func next() async -> [UInt8]? {
            await Task.detached { _ = usleep(20_000) }.value  // not cancelled with the iteration
            let place = position.withLock { position in
                defer { position += 1 }
                return position
            }
            return place < 6 ? Array("piece \(place);".utf8) : nil
        }
    }

    @Test func aSequenceWithOnePositionIsSentWhole() async throws {
        // The first connection ends as soon as the first piece has come.
        try await withServer([.readHead, .readSome(8), .reset], [.readHead, .readBody(), answer]) { server in
            try await withClient(retrying()) { client, _ in
                let body = HTTPRequestBody.stream(Tape(), isReplayable: true)
                let response = try await client.put(server.url(), body: body)
                #expect(response.status == .ok)
            }
            let whole = (0..<6).map { "piece \($0);" }.joined()
            #expect(server.bodies.last == BodyRecord(of: Array(whole.utf8)))
        }
    }

    /// Reading on, to use the connection again, has a limit of its own, which is no timeout of the request's.
    @Test func anAttemptWhoseBodyDoesNotComeIsToldAsDropped() async throws {
        let busy = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 9\r\n\r\nb"
        try await withServer([.readHead, .send(busy), .waitForClose], [.readHead, answer]) { server in
            let counters = HTTPCounters()
            var configuration = retrying()
            configuration.timeouts.total = .seconds(60)
            configuration.middlewares.append(HTTPMetricsReporting(to: counters))
            try await withClient(configuration) { client, _ in
                let response = try await client.get(server.url()).collected(upTo: 10)
                #expect(response.status == .ok)
            }
            #expect(counters.counts.outcomes == ["abandoned": 1, "200": 1])
        }
    }

    @Test func aPostIsSeenOnce() async throws {
        try await withServer([.readHead, .readBody()], [.readHead, .readBody(), answer]) { server in
            try await withClient(retrying()) { client, _ in
                let (error, _) = await failure { _ = try await client.post(server.url(), body: .bytes([1, 2, 3])) }
                #expect(error?.code == .emptyReply)
                #expect(error?.requestDisposition == .maybeProcessed)
                #expect(error?.attempts == 1)
            }
            #expect(server.heads.count == 1)
        }
    }

    @Test func aPostThatIsDeclaredIdempotentIsSeenTwice() async throws {
        try await withServer([.readHead, .readBody()], [.readHead, .readBody(), answer]) { server in
            try await withClient(retrying()) { client, _ in
                let response = try await client.post(
                    server.url(), body: .bytes([1, 2, 3]), options: .init(isIdempotent: true))
                #expect(response.status == .ok)
            }
            #expect(server.heads.count == 2)
        }
    }

    @Test func aServerThatRefusesIsTriedAsOftenAsAllowed() async throws {
        let (listener, port) = try LoopbackSocket.listen(backlog: 1)
        close(listener)
        try await withClient(retrying { $0.maximumAttempts = 4 }) { client, _ in
            let (error, _) = await failure {
                _ = try await client.post("http://127.0.0.1:\(port)/", body: .bytes([1]))
            }
            #expect(error?.code == .connectionFailed)
            #expect(error?.attempts == 4)
        }
    }

    @Test func retryAfterIsHonouredAndTheConnectionKept() async throws {
        let busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 4\r\n\r\nbusy"
        try await withServer([.readHead, .send(busy), .readHead, answer, .loop]) { server in
            try await withClient(retrying()) { client, _ in
                let start = ContinuousClock.now
                let response = try await client.get(server.url())
                #expect(response.status == .ok)
                #expect(ContinuousClock.now - start >= .seconds(1))
            }
            #expect(server.heads.count == 2)
            #expect(server.connections.count == 1)
        }
    }

    /// A redirect, a failed attempt, a pause, and a body that drips: together they take too long, each alone does not.
    @Test func theTotalCoversAll() async throws {
        let redirect = "HTTP/1.1 302 Found\r\nLocation: /b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        let drip = (0..<300).flatMap { _ in [RawServer.Step.send("x"), .pause(.milliseconds(50))] }
        let body = [.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n")] + drip
        let server = try RawServer([.readHead, .pause(.milliseconds(200)), .send(redirect)], [.readHead], body)
        defer { server.stop() }
        try await withClient(
            retrying { policy in
                (policy.initialPause, policy.random) = (.milliseconds(100), { 1 })
            }
        ) { client, _ in
            let events = HTTPEvents()
            let total = Duration.seconds(4)
            let (error, time) = await failure {
                let options = HTTPRequestOptions(timeouts: HTTPTimeouts(total: total), events: events)
                _ = try await client.get(server.url(), options: options).body.discard()
            }
            #expect(error?.code == .totalTimeout)
            #expect(error?.phase == .body)
            #expect(time >= total)
            #expect(time < total + Timing.slack(.seconds(4)))
            var isRetried = false
            var last: HTTPEvent?
            for await event in events {
                if case .retrying(2, .milliseconds(100), "emptyReply/firstByte") = event { isRetried = true }
                last = event
            }
            #expect(isRetried)
            guard case .failed(let failed, let timings) = last else {
                Issue.record("expected an end, got \(String(describing: last))")
                return
            }
            #expect(failed?.code == .totalTimeout)
            #expect(timings.total >= total)
        }
        #expect(server.heads.count == 3)
    }

    @Test func waitingForATurnIsInTheTotal() async throws {
        var transport = CurlTransport.Configuration()
        transport.maximumConcurrentTransfers = 1
        try await withServer([.readHead, .waitForClose]) { server in
            try await withClient(transport: transport) { client, _ in
                let first = Task { try await client.get(server.url()) }
                try await eventually { server.heads.count == 1 }
                let (error, time) = await failure {
                    _ = try await client.get(server.url(), timeouts: HTTPTimeouts(total: .milliseconds(150)))
                }
                #expect(error?.code == .totalTimeout)
                #expect(error?.phase == .queue)
                #expect(time >= .milliseconds(150))
                first.cancel()
                await #expect(throws: CancellationError.self) { _ = try await first.value }
            }
        }
    }

    @Test func manyRefusedTokensAreOneRefresh() async throws {
        // A server that knows no token answers 401; the second connection's knows all. One connection at a time keeps
        // the order plain.
        let refusal = RawServer.Step.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
        try await withServer([.readHead, refusal, .readHead, answer, .readHead, answer, .loop]) { server in
            let asked = Asked()
            var configuration = HTTPClient.Configuration()
            configuration.middlewares = [
                try .bearer(for: [String(server.url().dropLast())]) { refused in
                    await asked.add(refused)
                    return refused == nil ? "old" : "new"
                }
            ]
            try await withClient(configuration) { client, _ in
                for _ in 0..<2 {
                    let response = try await client.get(server.url()).collected(upTo: 10)
                    #expect(response.status == .ok)
                }
            }
            #expect(await asked.all == [nil, "old"])
            #expect(server.heads.map { $0.contains("Authorization: Bearer old\r\n") } == [true, false, false])
            #expect(server.heads.map { $0.contains("Authorization: Bearer new\r\n") } == [false, true, true])
        }
    }
}

private actor Asked {
    var all: [String?] = []
    func add(_ refused: String?) { all.append(refused) }
}
