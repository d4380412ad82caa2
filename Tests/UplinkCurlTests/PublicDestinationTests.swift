// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkHTTP
import UplinkTesting

/// What a transport for public addresses alone lets through, where the router has an address of the internet.
/// `DestinationTests` has what it refuses.
@Suite(.timeLimit(.minutes(2)), .serialized, .needsNetworkNamespaces)
struct PublicDestinationTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Leads from the internet to the router's address on the device's own network.
    private static let redirecting: [RawServer.Step] = [
        .answer { head in
            guard head.hasPrefix("GET /start ") else { return [.send(PublicDestinationTests.answer)] }
            let target = "http://192.0.2.1:\(RouterScene.port)/inside"
            return [.send("HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")]
        },
        .loop,
    ]

    private func configuration() throws -> CurlTransport.Configuration {
        let inside = try #require(IPAddress("192.0.2.1"))
        let outside = try #require(IPAddress("45.0.0.1"))
        var configuration = CurlTransport.Configuration()
        configuration.publicAddressesOnly = true
        configuration.resolve = ["public.test:*": [outside], "mixed.test:*": [inside, outside]]
        return configuration
    }

    /// By its address, by a name, by a name that has a forbidden address as well, where the same server listens, and by
    /// the IPv6 address that stands for it.
    @Test(arguments: ["45.0.0.1", "public.test", "mixed.test", "[::ffff:45.0.0.1]"])
    func aHostOnTheInternetIsReached(_ host: String) async throws {
        let script: [RawServer.Step] = [.readHead, .send(Self.answer), .loop]
        try await RouterScene.with(address: "45.0.0.1/32", script) { scene in
            try await scene.withClient(configuration()) { _, transport in
                let recorder = Recorder()
                let response = try await transport.get("http://\(host):\(RouterScene.port)/", recorder)
                #expect(response.head.status == .ok)
                #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
                #expect(recorder.connection?.remoteAddress.contains("45.0.0.1") == true)
            }
            #expect(scene.server.connections.count == 1)
        }
    }

    /// A host may have an address of the internet itself, which IPv6 addresses may stand for (mapped, NAT64, 6to4).
    @Test(arguments: ["45.0.0.9", "[::ffff:45.0.0.9]", "[64:ff9b::2d00:9]", "[2002:2d00:9::1]"])
    func thisHostIsNotReachedByItsOwnAddressOnTheInternet(_ host: String) async throws {
        try await RouterScene.with(address: "45.0.0.1/32", [.readHead, .send(Self.answer), .loop]) { scene in
            try scene.network.device.ip("addr add 45.0.0.9/32 dev lo")
            try await scene.withClient(configuration()) { client, _ in
                let (error, _) = await failure { _ = try await client.get("http://\(host):\(RouterScene.port)/") }
                #expect(error?.code == .addressForbidden, "\(String(describing: error))")
            }
        }
    }

    /// Nobody listens there, which only those learn who are let through.
    @Test func anIPv6HostOnTheInternetIsTried() async throws {
        let script: [RawServer.Step] = [.readHead, .send(Self.answer), .loop]
        try await RouterScene.with(.dualStack, address: "2a00::1/128", script) { scene in
            try await scene.withClient(configuration()) { client, _ in
                let (error, _) = await failure { _ = try await client.get("http://[2a00::1]:\(RouterScene.port)/") }
                #expect(error?.code == .connectionFailed, "\(String(describing: error))")
                #expect(error?.errno == ECONNREFUSED)
            }
        }
    }

    @Test func aRedirectFromTheInternetInwardsIsNotFollowed() async throws {
        let start = "http://45.0.0.1:\(RouterScene.port)/start"
        try await RouterScene.with(address: "45.0.0.1/32", Self.redirecting) { scene in
            try await scene.withClient(configuration()) { client, _ in
                let (error, _) = await failure { _ = try await client.get(start) }
                #expect(error?.code == .addressForbidden, "\(String(describing: error))")
                #expect(error?.redirects == [start])
                #expect(error?.isNetworkFailure == false)
            }
            #expect(scene.server.connections.count == 1)
            #expect(scene.server.heads.count == 1)
            // There is a way there, for those who are not kept from it.
            try await scene.withClient(CurlTransport.Configuration()) { client, _ in
                let response = try await client.get(start)
                #expect(response.status == .ok)
                #expect(response.url == "http://192.0.2.1:\(RouterScene.port)/inside")
            }
            #expect(scene.server.heads.count == 3)
        }
    }
}
