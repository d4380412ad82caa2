// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP
import UplinkTesting

/// What a transport does with what it is told of the network; the network itself stays as it is.
@Suite(.timeLimit(.minutes(1)))
struct NetworkChangeTests {
    private static let answer: [RawServer.Step] = [
        .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop,
    ]
    private let loopback = IPAddress("127.0.0.1")!

    private func withChanges(
        _ body: (StubNetworkChanges, HTTPClient, CurlTransport) async throws -> Void
    ) async throws {
        let changes = StubNetworkChanges()
        var configuration = CurlTransport.Configuration()
        configuration.networkChanges = changes.changes
        try await withClient(transport: configuration) { client, transport in
            try await body(changes, client, transport)
        }
        try await eventually { !changes.isObserved }
    }

    @Test func nobodyListensBeforeTheFirstRequestAndAfterTheEnd() async throws {
        try await withServer(Self.answer) { server in
            try await withChanges { changes, client, transport in
                #expect(!changes.isObserved)
                _ = try await client.get(server.url()).body.discard()
                try await eventually { changes.isObserved }
                await transport.shutdown()
                try await eventually { !changes.isObserved }
            }
        }
    }

    @Test(arguments: [true, false]) func transfersOnAnAddressThatIsGoneEnd(_ hasHead: Bool) async throws {
        let head = hasHead ? "HTTP/1.1 200 OK\r\n\r\nabc" : ""
        try await withServer([.readHead, .send(head), .waitForClose]) { server in
            try await withChanges { changes, client, transport in
                let hasAnswer = Locked(false)
                let task = Task {
                    let response = try await client.get(server.url())
                    hasAnswer.withLock { $0 = true }
                    return try await response.body.discard()
                }
                try await eventually { changes.isObserved && !server.heads.isEmpty }
                try await eventually { hasAnswer.withLock { $0 } == hasHead }
                changes.remove(loopback)
                let error = await #expect(throws: HTTPClientError.self) { _ = try await task.value }
                #expect(error?.code == .networkChanged)
                #expect(error?.isNetworkFailure == true)
                #expect(error?.requestDisposition == (hasHead ? .responseStarted : .maybeProcessed))
                #expect(await transport.census().transfers == 0)
            }
        }
    }

    @Test func aHandshakeOnAnAddressThatIsGoneEnds() async throws {
        try await withServer([.waitForClose]) { server in
            try await withChanges { changes, client, _ in
                let task = Task { try await client.get("https://127.0.0.1:\(server.port)/") }
                try await eventually { changes.isObserved && !server.connections.isEmpty }
                changes.remove(loopback)
                let error = await #expect(throws: HTTPClientError.self) { _ = try await task.value }
                #expect(error?.code == .networkChanged)
                #expect(error?.requestDisposition == .notSent)
            }
        }
    }

    /// It might be on its way into a network that leads nowhere any more; of a request that has gone out, nobody can
    /// tell.
    @Test(arguments: [false, true]) func whatHasNoConnectionYetBeginsAgainOnTheNewWay(isGone: Bool) async throws {
        try await withServer([.waitForClose]) { server in
            try await withChanges { changes, client, transport in
                let task = Task { try await client.get("https://127.0.0.1:\(server.port)/") }
                try await eventually { changes.isObserved && server.connections.count == 1 }
                let gone: Set<IPAddress> = isGone ? [loopback] : []
                changes.send(NetworkChange(removedAddresses: gone, changedDefaultRoutes: [.ipv4]))
                try await eventually { server.connections.count == 2 }
                #expect(await transport.census().transfers == 1)
                task.cancel()
                await #expect(throws: CancellationError.self) { _ = try await task.value }
            }
        }
    }

    @Test func idleConnectionsOnAnAddressThatIsGoneAreNotUsed() async throws {
        try await withServer(Self.answer) { server in
            try await withChanges { changes, client, _ in
                for round in 1...3 {
                    for _ in 0..<2 { _ = try await client.get(server.url()).body.discard() }
                    try await eventually { changes.isObserved }
                    changes.remove(loopback)
                    try await eventually { server.heads.count == 2 * round }
                    try await Task.sleep(for: .milliseconds(50))  // nothing tells that it has been heard
                }
            }
            #expect(server.connections.map(\.heads.count) == [2, 2, 2])
        }
    }

    @Test func otherAddressesAreNoMatter() async throws {
        try await withServer(Self.answer) { server in
            try await withChanges { changes, client, transport in
                for _ in 0..<3 {
                    _ = try await client.get(server.url()).body.discard()
                    try await eventually { changes.isObserved }
                    changes.remove(IPAddress("192.0.2.1")!)
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(await transport.generations == 1)
            }
            #expect(server.connections.count == 1)
        }
    }

    @Test(arguments: [NetworkChange(changedDefaultRoutes: [.ipv4]), .everything])
    func anotherWayToTheInternetIsANewGeneration(_ change: NetworkChange) async throws {
        let slow: [RawServer.Step] = [.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), .readHead]
        try await withServer(slow, Self.answer) { server in
            try await withChanges { changes, client, transport in
                let response = try await client.get(server.url())
                try await eventually { changes.isObserved }
                changes.send(change)
                try await Task.sleep(for: .milliseconds(50))
                for _ in 0..<2 { _ = try await client.get(server.url()).body.discard() }
                #expect(server.connections.count == 2)
                #expect(await transport.generations == 2)  // the old one, because its address is there, goes on
                #expect(await transport.census().transfers == 1)
                let task = Task { try await response.body.discard() }
                task.cancel()
                _ = await task.result
                try await eventually { await transport.generations == 1 }
            }
        }
    }

    @Test func twentyChangesInARowLeaveNothing() async throws {
        try await withServer(Self.answer) { server in
            try await withChanges { changes, client, transport in
                for _ in 0..<20 {
                    _ = try await client.get(server.url()).body.discard()
                    changes.send(.everything)
                }
                try await eventually { await transport.census().sockets == 0 || server.connections.count > 10 }
                _ = try await client.get(server.url()).body.discard()
                #expect(await transport.generations <= 2)
            }
        }
    }

    @Test func aMonitorThatFailsIsAsIfEverythingHadChanged() async throws {
        try await withServer(Self.answer) { server in
            try await withChanges { changes, client, _ in
                _ = try await client.get(server.url()).body.discard()
                try await eventually { changes.isObserved }
                changes.fail(NetworkMonitorError(.failed, message: "so says the test"))
                try await eventually { !changes.isObserved }
                try await Task.sleep(for: .milliseconds(50))
                _ = try await client.get(server.url()).body.discard()
                #expect(server.connections.count == 2)
            }
        }
    }
}
