// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

@testable import UplinkCurl

/// For how many milliseconds the kernel lets what was sent on a socket be unacknowledged (TCP_USER_TIMEOUT, tcp(7)): 0
/// is for as long as the system's rules have it, and -1 is no socket of TCP.
func unacknowledgedTime(of descriptor: CInt) -> CInt {
    var milliseconds: CInt = 0
    var size = socklen_t(MemoryLayout<CInt>.size)
    let status = getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, &size)
    return status == 0 ? milliseconds : -1
}

/// What the sockets of transfers are given to notice a peer that vanished.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct UnacknowledgedTimeTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private static func steps(for head: String) -> [RawServer.Step] {
        if head.hasPrefix("PUT ") { return [.waitForClose] }
        if head.hasPrefix("GET /hang ") { return [.send("HTTP/1.1 200 OK\r\n\r\na"), .waitForClose] }
        return [.send(answer)]
    }

    private static let script: [RawServer.Step] = [
        .answer { head in UnacknowledgedTimeTests.steps(for: head) }, .loop,
    ]

    /// The client's socket of a connection. The process has it, whatever network it belongs to.
    private func descriptor(of connection: HTTPConnection?) throws -> CInt {
        let localEnd = try #require(connection).localAddress
        let found = (CInt(3)..<65_536).first { descriptor in
            let socket = SocketIdentity(of: descriptor)
            guard socket.isConnected, let address = socket.localAddress, let port = socket.localPort else {
                return false
            }
            return "\(address):\(port)" == localEnd
        }
        return try #require(found)
    }

    // MARK: As they are opened

    /// What an idle connection has.
    private func timeGiven(by configuration: CurlTransport.Configuration) async throws -> CInt {
        try await withServer(Self.script) { server in
            try await withClient(transport: configuration) { _, transport in
                let recorder = Recorder()
                _ = try await transport.get(server.url(), recorder).body.discard()
                let socket = try descriptor(of: recorder.connection)
                return unacknowledgedTime(of: socket)
            }
        }
    }

    @Test func aConnectionHasThirtySecondsIfNothingIsSet() async throws {
        let given = try await timeGiven(by: CurlTransport.Configuration())
        #expect(given == 30_000)
    }

    @Test(arguments: [(.milliseconds(1500), 1500), (nil, 0)] as [(Duration?, CInt)])
    func aConnectionHasWhatIsSet(_ setting: Duration?, _ milliseconds: CInt) async throws {
        var configuration = CurlTransport.Configuration()
        configuration.unacknowledgedTimeout = setting
        let given = try await timeGiven(by: configuration)
        #expect(given == milliseconds)
    }

    // MARK: While a body is sent

    /// To the kernel, a server that reads nothing is as one that is gone. It is for the stall timeout.
    @Test func aServerThatReadsNothingStallsTheUpload() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.unacknowledgedTimeout = .seconds(1)
        try await withServer([.readHead, .waitForCloseWithoutReading]) { server in
            try await withClient(transport: configuration) { client, _ in
                let timeouts = HTTPTimeouts(firstByte: nil, stall: .seconds(4))
                let body = HTTPRequestBody.bytes([UInt8](repeating: 1, count: 64 << 20))
                let (error, time) = await failure {
                    _ = try await client.put(server.url(), body: body, timeouts: timeouts)
                }
                #expect(error?.code == .stallTimeout, "\(String(describing: error))")
                #expect(time >= .seconds(4))
            }
        }
    }

    /// Longer than the timeouts of its request; and afterwards again as any connection.
    @Test(
        arguments: [
            (.seconds(90), .seconds(1), 95_000), (.seconds(3), .seconds(40), 45_000),
            (.seconds(3), .seconds(4), 30_000), (.seconds(1 << 40), .seconds(1), .max), (nil, .seconds(1), 0),
            (.seconds(1), nil, 0),
        ] as [(Duration?, Duration?, CInt)])
    func aConnectionHasAnotherLimitDuringAnUpload(
        _ stall: Duration?, _ firstByte: Duration?, _ milliseconds: CInt
    ) async throws {
        let script: [RawServer.Step] = [.readHead, .readBody(), .send(Self.answer), .loop]
        try await withServer(script) { server in
            try await withClient { client, transport in
                let recorder = Recorder()
                var options = HTTPRequestOptions(timeouts: HTTPTimeouts(firstByte: firstByte, stall: stall))
                options.observer = { recorder.observe($0) }
                let first = try await client.put(server.url(), body: .text("first"), options: options)
                _ = try await first.body.discard()
                let socket = try descriptor(of: recorder.connection)
                #expect(unacknowledgedTime(of: socket) == 30_000)
                let isDone = Locked(false)
                let body = HTTPRequestBody.stream(
                    Asking { number in
                        while number == 1, !isDone.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
                        return number < 2 ? [1] : nil
                    }, isReplayable: true)  // which is why an existing connection is good enough
                async let sending = client.put(server.url(), body: body, options: options)
                defer { isDone.withLock { $0 = true } }
                try await eventually { unacknowledgedTime(of: socket) == milliseconds && server.bodies.count == 2 }
                isDone.withLock { $0 = true }
                _ = try await sending.body.discard()
                #expect(unacknowledgedTime(of: socket) == 30_000)
            }
            #expect(server.connections.count == 1)
        }
    }

    /// It does not matter any more how slowly it was read.
    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"])
    func theLimitIsTheUsualOneWhenTheServerHasTheBody(_ answer: String) async throws {
        try await withServer([.readHead, .pause(.milliseconds(300)), .readBody(), .send(answer), .waitForClose]) {
            server in
            try await withClient { client, _ in
                let recorder = Recorder()
                // Without an answer, it is looked at after a quarter of the time.
                let timeouts = HTTPTimeouts(firstByte: .seconds(answer.isEmpty ? 4 : 3600), stall: .seconds(90))
                var options = HTTPRequestOptions(timeouts: timeouts)
                options.observer = { recorder.observe($0) }
                let task = Task { [options] in
                    try await client.put(server.url(), body: .text("x"), options: options).body.discard()
                }
                defer { task.cancel() }
                try await eventually { recorder.words.contains("connected") }
                let socket = try descriptor(of: recorder.connection)
                #expect(unacknowledgedTime(of: socket) >= 95_000)
                try await eventually { unacknowledgedTime(of: socket) == 30_000 }
                #expect(server.bodies == [BodyRecord(of: [UInt8(ascii: "x")])])
            }
        }
    }

    // MARK: After a change of the way to the internet

    /// A client on the device, which hears what the test tells of its network.
    private func withDevice(
        _ setting: Duration?, _ body: (StubNetworkChanges, HTTPClient, CurlTransport) async throws -> Void
    ) async throws {
        try await RouterScene.with(address: "203.0.113.1/32", Self.script) { scene in
            let changes = StubNetworkChanges()
            var configuration = CurlTransport.Configuration()
            configuration.networkChanges = changes.changes
            configuration.unacknowledgedTimeout = setting
            try await scene.withClient(configuration) { client, transport in
                try await body(changes, client, transport)
            }
        }
    }

    private static func url(_ path: String) -> String { "http://203.0.113.1:\(RouterScene.port)\(path)" }

    /// Transfers that began before have five seconds, or less if less is set; those that begin later have what is set.
    @Test(
        .needsNetworkNamespaces,
        arguments: [(.seconds(30), 30_000, 5_000), (.seconds(2), 2_000, 2_000), (nil, 0, 5_000)]
            as [(Duration?, CInt, CInt)])
    func whatRunsIsLimitedAndWhatComesIsNot(_ setting: Duration?, _ before: CInt, _ after: CInt) async throws {
        try await withDevice(setting) { changes, _, transport in
            let old = Recorder()
            let transfer = Task { try await transport.get(Self.url("/hang"), old).body.discard() }
            defer { transfer.cancel() }
            try await eventually("an answer has begun") { old.words.contains("head 200") }
            let socket = try descriptor(of: old.connection)
            #expect(unacknowledgedTime(of: socket) == before)
            try await eventually { changes.isObserved }
            changes.changeDefaultRoutes(of: .ipv4)
            try await eventually("the change has been heard") {
                _ = try await transport.get(Self.url("/"), Recorder()).body.discard()
                return await transport.generations == 2
            }
            #expect(unacknowledgedTime(of: socket) == after)
            let new = Recorder()
            _ = try await transport.get(Self.url("/"), new).body.discard()
            let newSocket = try descriptor(of: new.connection)
            #expect(unacknowledgedTime(of: newSocket) == before)
        }
    }

    /// A server that takes its time with it looks the same to the kernel as one that is gone.
    @Test(.needsNetworkNamespaces) func anUploadIsNotLimited() async throws {
        try await withDevice(.seconds(30)) { changes, client, transport in
            let (down, up) = (Recorder(), Recorder())
            let download = Task { try await transport.get(Self.url("/hang"), down).body.discard() }
            defer { download.cancel() }
            let upload = Task {
                var options = HTTPRequestOptions()
                options.observer = { up.observe($0) }
                let body = HTTPRequestBody.stream(Pieces([1], pause: .seconds(3600)))
                return try await client.put(Self.url("/"), body: body, options: options).status
            }
            defer { upload.cancel() }
            try await eventually("both are under way") {
                down.words.contains("head 200") && up.words.contains("connected")
            }
            let downSocket = try descriptor(of: down.connection)
            let upSocket = try descriptor(of: up.connection)
            let given = unacknowledgedTime(of: upSocket)
            #expect(given == 65_000)
            try await eventually { changes.isObserved }
            changes.changeDefaultRoutes(of: .ipv4)
            try await eventually("the change has been heard") { unacknowledgedTime(of: downSocket) == 5_000 }
            #expect(unacknowledgedTime(of: upSocket) == given)
        }
    }

    @Test(arguments: [.zero, .seconds(32_768)] as [Duration]) func theKernelTakesNoLongerKeepAlive(idle: Duration) {
        var configuration = CurlTransport.Configuration()
        configuration.keepAlive = .seconds(32_767)
        #expect(throws: Never.self) { try EngineSettings(configuration) }
        configuration.keepAlive = idle
        #expect(throws: HTTPClientError.self) { try EngineSettings(configuration) }
    }
}
