// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

/// How many connections there are, how long they are used, and who has them.
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct ConnectionTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
    private static let answer: [RawServer.Step] = [.readHead, .send(head + "\r\nok"), .loop]

    private func get(_ count: Int, _ server: RawServer, _ client: HTTPClient) async throws {
        for _ in 0..<count {
            let body = try await client.get(server.url()).body.collect(upTo: 2)
            #expect(body == Array("ok".utf8))
        }
    }

    /// libcurl's handles are used again as the connections are, and keep most of what was set.
    @Test func aRequestHasNothingOfTheOneBefore() async throws {
        let methods: [HTTPRequest.Method] = [.head, .get, .delete, .get, .options, .get, .post, .get, .get, .get]
        let special = 8
        let script: [RawServer.Step] = [
            .answer { [.send(Self.head + ($0.hasPrefix("HEAD ") ? "\r\n" : "\r\nok"))] }, .loop,
        ]
        try await withServer(script) { server in
            try await withClient { client, _ in
                for (number, method) in methods.enumerated() {
                    let request = try HTTPRequest(
                        parsing: server.url("/\(number)"), method: method,
                        headerFields: number == special ? [.accept: "text/plain"] : [:])
                    let response = try await client.execute(
                        request, body: method == .post ? .bytes([]) : .none,
                        options: .init(isIdempotent: number == special ? false : nil))
                    _ = try await response.body.collect(upTo: 2)
                }
            }
            let heads = server.heads.map { $0.split(separator: " ") }.sorted { $0[1] < $1[1] }
            #expect(heads.map { String($0[0]) } == methods.map(\.rawValue))
            #expect(server.heads.filter { $0.contains("text/plain") }.count == 1)
            // The two that must not be repeated have a connection of their own.
            #expect(server.connections.count == 3)
        }
    }

    // MARK: How long

    @Test func aConnectionServesNoMoreRequestsThanItMay() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maximumRequestsPerConnection = 3
        try await withServer(Self.answer) { server in
            try await withClient(transport: configuration) { client, _ in try await get(10, server, client) }
            #expect(server.connections.map(\.heads.count) == [3, 3, 3, 1])
        }
    }

    /// With several on their way, a connection may have been given to the next one when its last request ends.
    @Test func whoHasAConnectionWhoseLastRequestWasAnothersIsNotCutOff() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maximumRequestsPerConnection = 2
        try await withServer(Self.answer) { server in
            try await withEventLoop { loop in
                let transport = try CurlTransport(on: loop, configuration: configuration)
                let client = HTTPClient(transport: transport)
                try await withTaskExecutorPreference(loop) {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<8 { group.addTask { try await get(50, server, client) } }
                        try await group.waitForAll()
                    }
                }
                await transport.shutdown()
            }
            #expect(server.heads.count == 400, "a request was sent twice")
            #expect(server.connections.count > 40)
        }
    }

    @Test func aConnectionIsNotUsedWhenItWasIdleForTooLong() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maximumIdleTime = .seconds(1)
        try await withServer(Self.answer) { server in
            try await withClient(transport: configuration) { client, _ in
                try await get(2, server, client)
                try await Task.sleep(for: .milliseconds(2100))  // libcurl counts whole seconds, and more than one
                try await get(1, server, client)
            }
            #expect(server.connections.map(\.heads.count) == [2, 1])
        }
    }

    @Test func aConnectionIsNotUsedWhenItIsTooOld() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maximumConnectionAge = .seconds(1)
        try await withServer(Self.answer) { server in
            try await withClient(transport: configuration) { client, _ in
                for _ in 0..<3 {
                    try await get(1, server, client)
                    try await Task.sleep(for: .milliseconds(750))
                }
                try await get(1, server, client)
            }
            #expect(server.connections.count >= 2)
        }
    }

    @Test func aServerMayEndAConnection() async throws {
        let script: [RawServer.Step] = [.readHead, .send(Self.head + "Connection: close\r\n\r\nok"), .waitForClose]
        try await withServer(script) { server in
            try await withClient { client, transport in
                try await get(3, server, client)
                try await eventually { await transport.census().sockets == 0 }
            }
            #expect(server.connections.map(\.heads.count) == [1, 1, 1])
        }
    }

    @Test(arguments: [
        ("Connection: keep-alive\r\n", [3]), ("", [1, 1, 1]), ("Connection: keep-alive, Close\r\n", [1, 1, 1]),
        ("Connection: close\r\nConnection: keep-alive\r\n", [1, 1, 1]),
    ])
    func oldServersKeepConnectionsWhereTheySaySo(_ field: String, _ expected: [Int]) async throws {
        let answer = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\(field)\r\nok"
        try await withServer([.readHead, .send(answer), .loop]) { server in
            try await withClient { client, _ in try await get(3, server, client) }
            #expect(server.connections.map(\.heads.count) == expected)
        }
    }

    @Test func noMoreIdleConnectionsAreKeptThanTheSettingSays() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maximumIdleConnections = 2
        let slow: [RawServer.Step] = [.readHead, .pause(.milliseconds(100)), .send(Self.head + "\r\nok"), .loop]
        try await withServer(slow) { server in
            try await withClient(transport: configuration) { client, _ in
                try await withThrowingTaskGroup { group in
                    for _ in 0..<6 { group.addTask { try await client.get(server.url()).body.discard() } }
                    try await group.waitForAll()
                }
                #expect(server.connections.count == 6)
                // Where several ended at once, each later request closes one more of those that are too many.
                try await get(4, server, client)
                try await eventually { server.connections.count { $0.closedAt == nil } == 2 }
                try await get(1, server, client)
                #expect(server.connections.count == 6 && server.connections.count { $0.closedAt == nil } == 2)
            }
        }
    }

    /// Connections in use are none of the idle ones, though libcurl counts them with those.
    @Test(arguments: [2, Int.max])
    func manyTransfersAtOnceLeaveTheIdleConnectionsAlone(maximum: Int) async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maximumIdleConnections = maximum
        let open: [RawServer.Step] = [.readHead, .send(Self.head + "\r\no"), .waitForClose]
        try await withServer(open) { busy in
            try await withServer(Self.answer) { server in
                try await withClient(transport: configuration) { client, _ in
                    var bodies: [HTTPBody] = []
                    for _ in 0..<5 { bodies.append(try await client.get(busy.url()).body) }
                    try await get(5, server, client)
                    withExtendedLifetime(bodies) {}
                }
                #expect(server.connections.map(\.heads.count) == [5])
            }
        }
    }

    // MARK: How many

    @Test func aHostHasItsShareOfConnections() async throws {
        try await withServer([.readHead, .waitForClose]) { server in
            var configuration = CurlTransport.Configuration()
            configuration.maximumConcurrentTransfers = 8
            try await withClient(transport: configuration) { client, transport in
                let tasks = (0..<20).map { _ in Task { try await client.get(server.url()) } }
                try await eventually { await transport.census().transfers == 20 }
                try await eventually { server.heads.count == 6 }
                try await Task.sleep(for: .milliseconds(50))
                #expect(server.connections.count == 6)
                for task in tasks { task.cancel() }
                for task in tasks { await #expect(throws: CancellationError.self) { _ = try await task.value } }
                #expect(await transport.census() == (0, 0))
            }
        }
    }

    /// The one that would look the name up for others goes over a connection that is there, and takes long.
    @Test func aLongTransferOnAKnownConnectionHoldsNobodyUp() async throws {
        let long: [RawServer.Step] = [
            .readHead, .send(Self.head + "\r\nok"), .readHead, .send(Self.head + "\r\no"), .waitForClose,
        ]
        try await withServer(long, Self.answer) { server in
            try await withClient { client, _ in
                let url = "http://localhost:\(server.port)/"
                _ = try await client.get(url).body.collect(upTo: 2)
                let endless = try await client.get(url)
                #expect(server.connections.count == 1)
                let timeouts = HTTPTimeouts(connect: .seconds(5))
                let body = try await client.get(url, timeouts: timeouts).body.collect(upTo: 2)
                #expect(body == Array("ok".utf8))
                withExtendedLifetime(endless) {}
            }
            #expect(server.connections.count == 2)
        }
    }

    @Test func twoThousandGoThroughSixConnections() async throws {
        try await withServer(Self.answer) { server in
            try await withClient { client, transport in
                try await withThrowingDiscardingTaskGroup { group in
                    for _ in 0..<2000 {
                        group.addTask {
                            let body = try await client.get(server.url()).body.collect(upTo: 2)
                            #expect(body == Array("ok".utf8))
                        }
                    }
                }
                #expect(await transport.census().transfers == 0)
            }
            #expect(server.heads.count == 2000)
            #expect(server.connections.count <= 6)
        }
    }

    /// Ten hosts with a hundred requests each, which all wait before the first one may go.
    @Test func hostsTakeTurns() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maximumConcurrentTransfers = 6
        let servers = try (0..<10).map { _ in try RawServer(Self.answer) }
        defer { for server in servers { server.stop() } }
        let finished = Locked<[Int]>([])
        try await withServer([.readHead, .waitForClose]) { silent in
            try await withClient(transport: configuration) { client, transport in
                let blockers = (0..<6).map { _ in Task { try await client.get(silent.url()) } }
                try await eventually { silent.heads.count == 6 }
                let tasks = servers.enumerated().flatMap { host, server in
                    (0..<100).map { _ in
                        Task {
                            _ = try await client.get(server.url()).body.collect(upTo: 2)
                            finished.withLock { $0.append(host) }
                        }
                    }
                }
                try await eventually { await transport.census().transfers == 1006 }
                for blocker in blockers { blocker.cancel() }
                for task in tasks { try await task.value }
            }
        }
        let order = finished.withLock { $0 }
        #expect(order.count == 1000)
        // When half of all is done, no host has more than twice what another has.
        let counts = (0..<10).map { host in order[..<500].count { $0 == host } }
        let (least, most) = (try #require(counts.min()), try #require(counts.max()))
        #expect(most < 2 * least, "\(counts)")
    }

    @Test func fourThousandWaitAndAreCancelled() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maximumConcurrentTransfers = 4
        try await withServer([.readHead, .waitForClose]) { server in
            try await withClient(transport: configuration) { client, transport in
                let before = Census()
                let tasks = (0..<4000).map { _ in Task { try await client.get(server.url()) } }
                try await eventually { await transport.census().transfers == 4000 }
                #expect(Census().descriptors <= before.descriptors + 30)
                for task in tasks { task.cancel() }
                for task in tasks { await #expect(throws: CancellationError.self) { _ = try await task.value } }
                #expect(await transport.census() == (0, 0))
            }
        }
    }

    // MARK: Servers that end

    @Test func aServerThatStartsAgainCutsEachTransferOnce() async throws {
        let body = String(repeating: "x", count: 100)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n\(body)"
        let first = try RawServer([.readHead, .send(head), .waitForClose])
        var configuration = CurlTransport.Configuration()
        configuration.maximumConcurrentTransfersPerHost = 100
        try await withClient(transport: configuration) { client, transport in
            let url = first.url()
            let tasks = (0..<100).map { _ in Task { try await client.get(url).body.discard() } }
            try await eventually { first.heads.count == 100 }
            first.stop()
            var short = 0
            for task in tasks {
                do {
                    let count = try await task.value
                    #expect(count == 200)
                } catch let error as HTTPClientError {
                    #expect([.truncated, .connectionReset, .emptyReply].contains(error.code), "\(error)")
                    short += 1
                }
            }
            #expect(short == 100)
            let second = try RawServer([.readHead, .send(head + body), .loop], address: "127.0.0.1", port: first.port)
            defer { second.stop() }
            let whole = try await client.get(url).body.discard()
            #expect(whole == 200)
            #expect(await transport.census().transfers == 0)
        }
    }

    @Test func aBrokenMultiIsReplaced() async throws {
        try await withServer([.readHead, .send(Self.head + "\r\n"), .waitForClose], Self.answer) { server in
            try await withClient { client, transport in
                let response = try await client.get(server.url())
                await transport.simulateBreakdown("so says the test")
                let (error, _) = await failure { _ = try await response.body.discard() }
                #expect(error?.code == .engine)
                #expect(error?.message.contains("so says the test") == true)
                try await get(2, server, client)
                #expect(await transport.generations == 1)
            }
            #expect(server.connections.count == 2)
        }
    }

    /// Both messages are there before the turn ends, which is when the broken one is closed.
    @Test func whatComesInTheTurnThatAMultiBreaksInGoesOverAnother() async throws {
        try await withServer(Self.answer) { server in
            try await withEventLoop { loop in
                let transport = try CurlTransport(on: loop)
                let client = HTTPClient(transport: transport)
                try await Task(executorPreference: loop) {
                    for _ in 0..<10 {
                        try await get(2, server, client)
                        await transport.simulateBreakdown("so says the test")
                    }
                    try await get(2, server, client)
                }.value
                await transport.shutdown()
            }
            #expect(server.connections.count == 11)
        }
    }
}
