// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// Real time, because the timers of libuv and libcurl are what is tested.
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct TimeoutTests {
    private let tolerance = Timing.slack(.milliseconds(50))

    private func expect(
        _ code: HTTPClientError.Code, after limit: Duration, _ phase: HTTPClientError.Phase,
        _ body: () async throws -> Void
    ) async {
        let time = await Timing.measure({ $0 < limit + tolerance }) {
            let (error, time) = await failure(body)
            #expect(error?.code == code, "\(String(describing: error))")
            #expect(error?.phase == phase)
            #expect(time >= limit)
            return time
        }
        #expect(time < limit + tolerance, "late by \(time - limit)")
    }

    @Test func connecting() async throws {
        let blackhole = try Blackhole()
        defer { blackhole.stop() }
        try await withClient { client, _ in
            await expect(.connectTimeout, after: .milliseconds(230), .connect) {
                _ = try await client.get(blackhole.url(), timeouts: HTTPTimeouts(connect: .milliseconds(230)))
            }
        }
    }

    @Test func negotiatingTLS() async throws {
        try await withServer([.waitForClose]) { server in
            try await withClient { client, _ in
                await expect(.connectTimeout, after: .seconds(1), .tls) {
                    _ = try await client.get(
                        "https://127.0.0.1:\(server.port)/", timeouts: HTTPTimeouts(connect: .seconds(1)))
                }
            }
        }
    }

    @Test func waitingForTheHead() async throws {
        try await withServer([.readHead, .waitForClose]) { server in
            try await withClient { client, _ in
                await expect(.firstByteTimeout, after: .milliseconds(170), .firstByte) {
                    _ = try await client.get(server.url(), timeouts: HTTPTimeouts(firstByte: .milliseconds(170)))
                }
            }
        }
    }

    /// The loop's timer stays set when the request that it was set for has ended: for an earlier time than the next
    /// one's limit, or a later.
    @Test(arguments: [Duration.seconds(2), .seconds(20)])
    func waitingForTheHeadAfterARequestWithALimitOf(_ other: Duration) async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        let silent: [RawServer.Step] = [.readHead, .waitForClose]  // for when the time has to be measured again
        try await withServer([.readHead, .send(answer)] + silent, silent) { server in
            try await withClient { client, _ in
                let timeouts = HTTPTimeouts(connect: other, firstByte: other, stall: other, total: other)
                _ = try await client.get(server.url(), timeouts: timeouts).body.collect(upTo: 0)
                await expect(.firstByteTimeout, after: .milliseconds(2300), .firstByte) {
                    _ = try await client.get(server.url(), timeouts: HTTPTimeouts(firstByte: .milliseconds(2300)))
                }
            }
            #expect(server.connections.first?.heads.count == 2)
        }
    }

    @Test func stallingInTheBody() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
        try await withServer([.readHead, .send(head), .waitForClose]) { server in
            try await withClient { client, _ in
                let start = ContinuousClock.now
                let response = try await client.get(
                    server.url(), timeouts: HTTPTimeouts(stall: .milliseconds(150)))
                let (error, time) = await failure { _ = try await response.body.discard() }
                #expect(error?.code == .stallTimeout)
                #expect(ContinuousClock.now - start >= .milliseconds(150))  // it runs from the head, which came later
                #expect(time < .milliseconds(150) + Timing.slack(.milliseconds(250)))
            }
        }
    }

    @Test func aSlowBodyStallsNotButHasATotal() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"
        let drip = (0..<20).flatMap { _ in [RawServer.Step.send("x"), .pause(.milliseconds(60))] }
        try await withServer([.readHead, .send(head)] + drip + [.waitForClose]) { server in
            try await withClient { client, _ in
                await expect(.totalTimeout, after: .milliseconds(400), .body) {
                    let timeouts = HTTPTimeouts(stall: .milliseconds(200), total: .milliseconds(400))
                    _ = try await client.get(server.url(), timeouts: timeouts).body.discard()
                }
            }
        }
    }

    @Test func collectingHasALimitOfItsOwn() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
        try await withServer([.readHead, .send(head), .waitForClose]) { server in
            try await withClient { client, _ in
                await expect(.totalTimeout, after: .milliseconds(120), .body) {
                    let response = try await client.get(server.url())
                    _ = try await response.body.collect(upTo: 9, within: .milliseconds(120))
                }
            }
        }
    }

    @Test func queueing() async throws {
        var transport = CurlTransport.Configuration()
        transport.maximumConcurrentTransfers = 1
        transport.maximumQueuedTransfers = 1
        try await withServer([.readHead, .waitForClose]) { server in
            try await withClient(transport: transport) { client, transport in
                let first = Task { try await client.get(server.url()) }
                try await eventually { !server.heads.isEmpty }
                let timeouts = HTTPTimeouts(queue: .milliseconds(130))
                async let second: Void = expect(.queueTimeout, after: .milliseconds(130), .queue) {
                    _ = try await client.get(server.url(), timeouts: timeouts)
                }
                try await eventually("the second is queued") { await transport.census().transfers == 2 }
                let (error, _) = await failure { _ = try await client.get(server.url(), timeouts: timeouts) }
                #expect(error?.code == .queueFull)
                await second
                first.cancel()
                await #expect(throws: CancellationError.self) { _ = try await first.value }
            }
        }
    }

    @Test func aNegativeTimeoutIsAnError() async throws {
        try await withClient { client, _ in
            let (error, _) = await failure {
                _ = try await client.get("http://127.0.0.1/", timeouts: HTTPTimeouts(stall: .seconds(-1)))
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("stall") == true)
        }
    }
}
