// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkHTTP

/// Cancelling at every stage ends within 50 ms and leaves nothing. Real time, because the way through the loop's thread
/// is what is tested.
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct CancellationTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n"

    /// Starts `work`, cancels it when `isReady` says so, and expects `CancellationError` soon.
    ///
    /// - Parameter isReady: Is told how often `work` has been cancelled already: a late end is given another chance.
    /// - Returns: How often `work` was cancelled.
    private func expectCancellation(
        of transport: CurlTransport, when isReady: (Int) async -> Bool,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws -> Int {
        var attempts = 0
        let time = try await Timing.measure({ $0 < limit }) {
            let task = Task { try await work() }
            try await eventually { await isReady(attempts) }
            try await Task.sleep(for: .milliseconds(20))
            let start = ContinuousClock.now
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let time = ContinuousClock.now - start
            #expect(await transport.census().transfers == 0)
            attempts += 1
            return time
        }
        #expect(time < limit, "took \(time)")
        return attempts
    }

    private let limit = Timing.slack(.milliseconds(50))

    @Test func beforeTheStart() async throws {
        try await withServer([.readHead, .waitForClose]) { server in
            try await withClient { client, transport in
                let task = Task {
                    while !Task.isCancelled { await Task.yield() }
                    _ = try await client.get(server.url())
                }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(await transport.census() == (0, 0))
                #expect(server.connections.isEmpty)
            }
        }
    }

    @Test func queued() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maximumConcurrentTransfers = 1
        try await withServer([.readHead, .waitForClose]) { server in
            try await withClient(transport: configuration) { client, transport in
                let first = Task { _ = try await client.get(server.url()) }
                try await eventually { !server.heads.isEmpty }
                let time = try await Timing.measure({ $0 < limit }) {
                    let second = Task { _ = try await client.get(server.url()) }
                    try await eventually("the second one waits") { await transport.census().transfers == 2 }
                    let start = ContinuousClock.now
                    second.cancel()
                    await #expect(throws: CancellationError.self) { try await second.value }
                    let time = ContinuousClock.now - start
                    #expect(await transport.census().transfers == 1)
                    return time
                }
                #expect(time < limit, "took \(time)")
                first.cancel()
                await #expect(throws: CancellationError.self) { try await first.value }
            }
        }
    }

    @Test func connecting() async throws {
        let blackhole = try Blackhole()
        defer { blackhole.stop() }
        try await withClient { client, transport in
            _ = try await expectCancellation(of: transport) {
                _ in
                await transport.census().sockets > 0
            } _: {
                _ = try await client.get(blackhole.url())
            }
            #expect(await transport.census().sockets == 0)
        }
    }

    @Test func negotiatingTLS() async throws {
        try await withServer([.waitForClose]) { server in
            try await withClient { client, transport in
                _ = try await expectCancellation(of: transport) {
                    server.connections.count > $0
                } _: {
                    _ = try await client.get("https://127.0.0.1:\(server.port)/")
                }
            }
        }
    }

    @Test func waitingForTheHead() async throws {
        try await withServer([.readHead, .waitForClose]) { server in
            try await withClient { client, transport in
                let attempts = try await expectCancellation(of: transport) {
                    server.heads.count > $0
                } _: {
                    _ = try await client.get(server.url())
                }
                try await expectClose(of: server, connection: attempts - 1)
            }
        }
    }

    @Test func inTheBody() async throws {
        try await withServer([.readHead, .send(Self.head + "abc"), .waitForClose]) { server in
            try await withClient { client, transport in
                let begun = Locked(0)
                let attempts = try await expectCancellation(of: transport) { attempt in
                    begun.withLock { $0 } > attempt
                } _: {
                    for try await _ in try await client.get(server.url()).body { begun.withLock { $0 += 1 } }
                }
                try await expectClose(of: server, connection: attempts - 1)
            }
        }
    }

    @Test func pausedWhileNobodyReads() async throws {
        try await withServer([.readHead, .send(Self.head), .fill(100_000_000)]) { server in
            var configuration = HTTPClient.Configuration()
            configuration.limits.bufferedBytes = 256 * 1024
            try await withClient(configuration) { client, transport in
                let attempts = try await expectCancellation(of: transport) {
                    server.connections.dropFirst($0).first?.filled ?? 0 > 500_000
                } _: {
                    let response = try await client.get(server.url())
                    while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
                    for try await _ in response.body {}
                }
                try await expectClose(of: server, connection: attempts - 1)
            }
        }
    }

    @Test func writingAFile() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try await withServer([.readHead, .send(Self.head), .fill(1_000_000), .waitForClose]) { server in
            try await withClient { client, transport in
                let target = directory.path.appending("file")
                _ = try await expectCancellation(of: transport) {
                    server.connections.dropFirst($0).first?.filled == 1_000_000
                } _: {
                    try await client.get(server.url()).body.write(to: target)
                }
                #expect(directory.names.isEmpty)
            }
        }
    }

    @Test func aDroppedBodyOrIteratorClosesTheConnection() async throws {
        try await withServer([.readHead, .send(Self.head + "abc"), .waitForClose]) { server in
            try await withClient { client, transport in
                _ = try await client.get(server.url())
                try await expectClose(of: server)
                let response = try await client.get(server.url())
                for try await _ in response.body { break }
                try await expectClose(of: server, connection: 1)
                #expect(await transport.census().transfers == 0)
                withExtendedLifetime(response) {}
            }
        }
    }

    /// By the server's clock, from the moment at which the reader has its first bytes and wants no more.
    @Test func aDroppedIteratorClosesTheConnectionSoon() async throws {
        let limit = Timing.limit(Timing.slack(.milliseconds(100)), otherwise: .seconds(5))
        try await withServer([.readHead, .send(Self.head + "abc"), .waitForClose]) { server in
            try await withClient { client, _ in
                var attempts = 0
                let time = try await Timing.measure({ $0 < limit }) {
                    let response = try await client.get(server.url())
                    var start = ContinuousClock.now
                    for try await _ in response.body {
                        start = .now
                        break
                    }
                    try await eventually { server.connections[attempts].closedAt != nil }
                    let closed = try #require(server.connections[attempts].closedAt)
                    withExtendedLifetime(response) {}
                    attempts += 1
                    return closed - start
                }
                #expect(time < limit, "the server saw it after \(time)")
            }
        }
    }

    /// Soon, as the server sees it; its thread has to be scheduled too.
    private func expectClose(of server: RawServer, connection: Int = 0) async throws {
        let start = ContinuousClock.now
        while server.connections[connection].closedAt == nil, ContinuousClock.now - start < .seconds(5) {
            try await Task.sleep(for: .milliseconds(1))
        }
        let time = ContinuousClock.now - start
        #expect(time < Timing.slack(.milliseconds(250)), "the server saw it after \(time)")
    }

    @Test func stormsOfCancellationsLeaveNothing() async throws {
        let rounds = getenv("UPLINK_FULL") == nil ? 50 : 1250  // of eight
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop]) { server in
            let before = Census()
            for _ in 0..<rounds {
                try await withClient { client, _ in
                    await withDiscardingTaskGroup { group in
                        for _ in 0..<8 {
                            group.addTask {
                                let task = Task { try await client.get(server.url()).body.collect(upTo: 2) }
                                try? await Task.sleep(for: .microseconds(.random(in: 0...4000)))
                                task.cancel()
                                switch await task.result {
                                case .success(let body): #expect(body == Array("ok".utf8))
                                case .failure(let error): #expect(error is CancellationError, "\(error)")
                                }
                            }
                        }
                    }
                }
            }
            try await eventually { Census().descriptors <= before.descriptors + 8 }
        }
    }
}
