// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkHTTP

/// Where connections go to and come from, and where they do not go.
@Suite(.timeLimit(.minutes(1)))
struct DestinationTests {
    private static let answer: [RawServer.Step] = [
        .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop,
    ]

    /// Plays a server on a Unix socket; the configuration names it.
    private func withUnixServer(
        _ steps: [RawServer.Step], named name: FilePath.Component = "socket",
        _ body: (RawServer, CurlTransport.Configuration) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path.appending(name)
        let server = try RawServer(steps, at: path)
        defer { server.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.unixSocket = path
        try await body(server, configuration)
    }

    @Test(arguments: [nil, .ipv4, .ipv6] as [IPAddress.Family?])
    func aUnixSocketTakesAllConnections(_ family: IPAddress.Family?) async throws {
        try await withUnixServer(Self.answer) { server, configuration in
            var configuration = configuration
            configuration.addressFamily = family
            try await withClient(transport: configuration) { client, transport in
                for _ in 0..<3 {
                    let body = try await client.get("http://any.test/x").body.collect(upTo: 2)
                    #expect(body == Array("ok".utf8))
                }
                let recorder = Recorder()
                _ = try await transport.get("http://any.test/x", recorder).body.discard()
                #expect(recorder.connection?.remoteAddress == "")
            }
            #expect(server.connections.count == 1)
            #expect(server.heads.first?.contains("Host: any.test\r\n") == true)
        }
    }

    /// What comes on it would be taken for the next answer. Connecting a Unix socket never waits.
    @Test func anIdleUnixSocketIsWatched() async throws {
        let stray = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"
        let steps: [RawServer.Step] = [
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .pause(.milliseconds(100)),
            .send(stray), .waitForClose,
        ]
        try await withUnixServer(steps) { server, configuration in
            try await withClient(transport: configuration) { client, _ in
                for _ in 0..<2 {
                    let body = try await client.get("http://any.test/x").body.collect(upTo: 5)
                    #expect(body == Array("ok".utf8))
                    try await Task.sleep(for: .milliseconds(300))
                }
            }
            #expect(server.connections.map(\.heads.count) == [1, 1])
        }
    }

    @Test func anIdleUnixSocketIsKeptForAsLongAsItMay() async throws {
        try await withUnixServer(Self.answer) { server, configuration in
            var configuration = configuration
            configuration.maximumIdleTime = .seconds(1)
            try await withClient(transport: configuration) { client, _ in
                for _ in 0..<2 {
                    for _ in 0..<2 { _ = try await client.get("http://any.test/x").body.collect(upTo: 2) }
                    try await Task.sleep(for: .milliseconds(1300))  // libcurl itself would keep it for two seconds
                }
            }
            let counts = server.connections.map(\.heads.count)
            #expect(counts == [2, 2] || !Timing.isExact && counts.count > 1)
        }
    }

    /// Paths are bytes.
    @Test func aUnixSocketsNameNeedNotBeUTF8() async throws {
        let bytes: [CChar] = [0x61, -1, 0]
        let name = bytes.withUnsafeBufferPointer { FilePath(platformString: $0.baseAddress!).components.first! }
        try await withUnixServer(Self.answer, named: name) { _, configuration in
            try await withClient(transport: configuration) { client, _ in
                let body = try await client.get("http://any.test/x").body.collect(upTo: 2)
                #expect(body == Array("ok".utf8))
            }
        }
    }

    @Test func aUnixSocketThatIsNotThereIsTold() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.unixSocket = "/nonexistent/socket"
        try await withClient(transport: configuration) { client, _ in
            let (error, _) = await failure { _ = try await client.get("http://any.test/") }
            #expect(error?.code == .connectionFailed, "\(String(describing: error))")
            #expect(error?.requestDisposition == .notSent)
        }
    }

    @Test func connectionsComeFromTheAddressThatIsSet() async throws {
        try await withServer(Self.answer) { server in
            var configuration = CurlTransport.Configuration()
            configuration.localEnd = .address(try #require(IPAddress("127.0.0.9")))
            try await withClient(transport: configuration) { _, transport in
                let recorder = Recorder()
                _ = try await transport.get(server.url(), recorder).body.discard()
                #expect(recorder.connection?.localAddress.hasPrefix("127.0.0.9:") == true)
            }
        }
    }

    @Test func connectionsUseTheInterfaceThatIsSet() async throws {
        try await withServer(Self.answer) { server in
            var configuration = CurlTransport.Configuration()
            configuration.localEnd = .interface("lo")
            try await withClient(transport: configuration) { client, _ in
                let status = try await client.get(server.url()).status
                #expect(status == .ok)
            }
        }
    }

    @Test(arguments: [CurlTransport.LocalEnd.interface("nosuch0"), .address(IPAddress("192.0.2.99")!)])
    func aLocalEndThatIsNotThereIsTold(_ end: CurlTransport.LocalEnd) async throws {
        var configuration = CurlTransport.Configuration()
        configuration.localEnd = end
        try await withServer(Self.answer) { server in
            try await withClient(transport: configuration) { client, _ in
                let (error, _) = await failure { _ = try await client.get(server.url()) }
                #expect(error?.code == .bindingFailed, "\(String(describing: error))")
                #expect(error?.isNetworkFailure == true)
                #expect(error?.requestDisposition == .notSent)
            }
            #expect(server.connections.isEmpty)
        }
    }

    @Test func oneEntryMayStandForAllPorts() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.resolve = ["any.test:*": [try #require(IPAddress("127.0.0.1"))]]
        try await withServer(Self.answer) { first in
            try await withServer(Self.answer) { second in
                try await withClient(transport: configuration) { client, _ in
                    for (server, host) in [(first, "any.test"), (second, "any.test"), (second, "any.test.")] {
                        let status = try await client.get("http://\(host):\(server.port)/").status
                        #expect(status == .ok)
                    }
                }
                #expect(first.heads.count == 1 && second.heads.count == 2)
            }
        }
    }

    // MARK: Public addresses only

    private func withPublicAddresses(
        resolve: [String: [String]] = [:], _ body: (HTTPClient, CurlTransport) async throws -> Void
    ) async throws {
        var configuration = CurlTransport.Configuration()
        configuration.publicAddressesOnly = true
        configuration.resolve = resolve.mapValues { $0.compactMap { IPAddress($0) } }
        try await withClient(transport: configuration, body)
    }

    @Test func thisHostIsForbiddenWhateverItsName() async throws {
        try await withServer(Self.answer) { server in
            try await withPublicAddresses(resolve: ["public.test:*": ["127.0.0.1"]]) { client, _ in
                for host in ["127.0.0.1", "localhost", "public.test", "[::ffff:127.0.0.1]", "0.0.0.0", "[::1]"] {
                    let (error, _) = await failure { _ = try await client.get("http://\(host):\(server.port)/") }
                    #expect(error?.code == .addressForbidden, "\(host): \(String(describing: error))")
                    #expect(error?.requestDisposition == .notSent)
                    #expect(error?.isNetworkFailure == false)
                }
            }
            #expect(server.connections.isEmpty)
        }
    }

    @Test(arguments: [
        "10.0.0.1", "169.254.169.254", "100.64.0.1", "192.0.2.1", "[fd00::1]", "[fe80::1]", "[ff02::1]",
        "[64:ff9b::a9fe:a9fe]", "[2002:7f00:1::]", "[2001:db8::1]",
    ])
    func whatIsNotTheInternetIsForbidden(_ host: String) async throws {
        try await withPublicAddresses { client, _ in
            let (error, _) = await failure { _ = try await client.get("http://\(host)/") }
            #expect(error?.code == .addressForbidden, "\(host): \(String(describing: error))")
        }
    }
}
