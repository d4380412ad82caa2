// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

/// How transports end, in the ways they should and in those they should not.
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct LifetimeTests {
    private static let ok: [RawServer.Step] = [
        .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop,
    ]

    @Test func drainingWaitsForTheTransfersAndRefusesNewOnes() async throws {
        let slow: [RawServer.Step] = [
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"), .pause(.milliseconds(200)), .send("k"),
        ]
        try await withServer(slow) { server in
            try await withEventLoop { loop in
                let transport = try CurlTransport(on: loop)
                let client = HTTPClient(transport: transport)
                let response = try await client.get(server.url())
                async let end: Void = transport.shutdown(.draining)
                async let body = response.body.collect(upTo: 2)
                try await Task.sleep(for: .milliseconds(50))
                let (error, _) = await failure { _ = try await client.get(server.url()) }
                #expect(error?.code == .closed)
                #expect(try await body == Array("ok".utf8))
                await end
                #expect(await transport.census() == (0, 0))
            }
        }
    }

    @Test func shuttingDownEndsWhatIsUnderWay() async throws {
        try await withServer([.readHead, .waitForClose]) { server in
            try await withEventLoop { loop in
                var configuration = CurlTransport.Configuration()
                configuration.maximumConcurrentTransfersPerHost = 10
                let transport = try CurlTransport(on: loop, configuration: configuration)
                let client = HTTPClient(transport: transport)
                let waiting = (0..<10).map { _ in Task { try await client.get(server.url()) } }
                try await eventually { server.heads.count == 10 }
                async let first: Void = transport.shutdown()
                async let second: Void = transport.shutdown()
                _ = await (first, second)
                for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
                #expect(await transport.census() == (0, 0))
            }
        }
    }

    /// A cancelled sleep of one of Swift's clocks would hold its memory until the deadline.
    @Test func waitsThatAreOverHoldNothing() async throws {
        await #expect(processExitsWith: .success) {
            var configuration = HTTPClient.Configuration()
            configuration.middlewares = [.singleFlight(upTo: 100)]
            configuration.timeouts.total = .seconds(3600)
            try await withServer(Self.ok) { server in
                try await withClient(configuration) { client, _ in
                    func get(_ count: Int) async throws {
                        for _ in 0..<count { _ = try await client.get(server.url()).body.collect(upTo: 2) }
                    }
                    try await get(1000)
                    let before = Memory.resident
                    try await get(Timing.isInstrumented ? 1000 : 10_000)
                    let growth = Memory.resident - before
                    if !Timing.isInstrumented, growth >= 3 << 20 { exit(1) }
                }
            }
        }
    }

    @Test func aTransportThatIsDroppedClosesItsConnections() async throws {
        try await withServer(Self.ok) { server in
            try await withEventLoop { loop in
                do {
                    let client = HTTPClient(transport: try CurlTransport(on: loop))
                    #expect(try await client.get(server.url()).body.collect(upTo: 2).count == 2)
                }
                try await eventually { server.connections[0].closedAt != nil }
            }
            #expect(server.connections.count == 1)
        }
    }

    @Test func aBodyKeepsItsTransport() async throws {
        let slow: [RawServer.Step] = [
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"), .pause(.milliseconds(100)), .send("k"),
        ]
        try await withServer(slow) { server in
            try await withEventLoop { loop in
                let body = try await HTTPClient(transport: try CurlTransport(on: loop)).get(server.url()).body
                #expect(try await body.collect(upTo: 2) == Array("ok".utf8))
            }
        }
    }

    @Test func aLoopThatEndsUnderManyTransfersEndsThemAll() async throws {
        try await withServer([.readHead, .waitForClose]) { server in
            let loop = try EventLoop()
            let transport = try CurlTransport(on: loop)
            let client = HTTPClient(transport: transport)
            let transfers = (0..<40).map { _ in Task { try await client.get(server.url()) } }
            try await eventually { server.heads.count == 6 }
            loop.end()
            var ends: [String: Int] = [:]
            for transfer in transfers {
                let (error, _) = await failure { _ = try await transfer.value }
                let disposition = try #require(error?.requestDisposition)
                ends["\(error?.shortDescription ?? "") \(disposition)", default: 0] += 1
            }
            #expect(ends == ["closed/queue notSent": 34, "closed/firstByte maybeProcessed": 6])
        }
    }

    @Test func aBodyEndsWithItsLoop() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let half = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"
        try await withServer([.readHead, .send(half), .waitForClose]) { server in
            let (read, written) = try await withEventLoop { loop in
                let client = HTTPClient(transport: try CurlTransport(on: loop))
                return (try await client.get(server.url()).body, try await client.get(server.url()).body)
            }
            let (error, _) = await failure { _ = try await read.collect(upTo: 2) }
            #expect(error?.code == .closed)
            #expect(error?.phase == .body)
            #expect(error?.requestDisposition == .responseStarted)
            let (unwritten, _) = await failure { _ = try await written.write(to: directory.path.appending("file")) }
            #expect(unwritten?.code == .closed)
            #expect(unwritten?.phase == .sink)
            #expect(unwritten?.requestDisposition == .responseStarted)
            #expect(directory.names.isEmpty)
        }
    }

    @Test func afterItsLoopATransportRefuses() async throws {
        let transport = try await withEventLoop { try CurlTransport(on: $0) }
        let (error, _) = await failure { _ = try await HTTPClient(transport: transport).get("http://127.0.0.1:1/") }
        #expect(error?.code == .closed)
        await transport.shutdown()
    }

    @Test func aTransferEndsWithItsLoop() async throws {
        try await withServer([.readHead, .waitForClose]) { server in
            let (transport, waiting) = try await withEventLoop { loop in
                let transport = try CurlTransport(on: loop)
                let waiting = Task { try await HTTPClient(transport: transport).get(server.url()) }
                try await eventually { !server.heads.isEmpty }
                return (transport, waiting)
            }
            let error = await #expect(throws: HTTPClientError.self) { try await waiting.value }
            #expect(error?.code == .closed)
            await transport.shutdown()
            #expect(await transport.census() == (0, 0))
        }
    }

    @Test func aHundredTransportsLeaveNoThreadAndNoDescriptor() async throws {
        try await withServer(Self.ok) { server in
            let before = Census()
            for _ in 0..<100 {
                try await withClient { client, _ in
                    _ = try await client.get(server.url()).body.collect(upTo: 2)
                }
            }
            // The server's own end of a connection, and other suites, may need a moment.
            try await eventually {
                Census().descriptors <= before.descriptors + 20 && Threads.count(named: "uplink-loop") < 20
            }
        }
    }
}
