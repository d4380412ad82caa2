// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCore
import UplinkCurl
import UplinkHTTP
import UplinkTesting

/// Connections of a device with two cables to one server.
@Suite(.timeLimit(.minutes(1)), .serialized, .needsNetworkNamespaces)
struct BoundInterfaceTests {
    /// Nothing can come of that, and a server that does not run is not the reason.
    @Test func anAddressOfTheOtherFamilyIsTold() async throws {
        for (local, server) in [("127.0.0.1", "[::1]"), ("::1", "127.0.0.1")] {
            var configuration = CurlTransport.Configuration()
            configuration.localEnd = .address(try #require(IPAddress(local)))
            try await withClient(transport: configuration) { client, _ in
                let (error, _) = await failure { _ = try await client.get("http://\(server):9/") }
                #expect(error?.code == .bindingFailed && error?.requestDisposition == .notSent)
            }
        }
        var configuration = CurlTransport.Configuration()
        configuration.addressFamily = .ipv6
        try await withClient(transport: configuration) { client, _ in
            let (error, _) = await failure { _ = try await client.get("http://127.0.0.1:9/") }
            #expect(error?.message.contains("addressFamily") == true)
        }
    }

    /// The same of a proxy, whatever the family of the server behind it.
    @Test func aProxysAddressOfTheOtherFamilyIsTold() async throws {
        for (local, proxy) in [("127.0.0.1", "http://[::1]:9"), ("::1", "socks5h://127.0.0.1:9")] {
            var configuration = CurlTransport.Configuration()
            configuration.localEnd = .address(try #require(IPAddress(local)))
            configuration.proxy = .always(try .init(proxy), except: [])
            try await withClient(transport: configuration) { client, _ in
                let (error, _) = await failure { _ = try await client.get("http://origin.test/") }
                #expect(error?.code == .bindingFailed && error?.requestDisposition == .notSent)
                #expect(error?.message.contains(proxy) == true, "\(String(describing: error))")
            }
            configuration.localEnd = nil
            configuration.addressFamily = proxy.contains("[") ? .ipv4 : .ipv6
            try await withClient(transport: configuration) { client, _ in
                let (error, _) = await failure { _ = try await client.get("https://origin.test/") }
                #expect(error?.message.contains("addressFamily") == true, "\(String(describing: error))")
            }
        }
    }

    private static let answer: [RawServer.Step] = [
        .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop,
    ]

    /// The routes prefer the first cable; the interface that is set has its way all the same.
    @Test(
        arguments: [(nil, "192.0.2.10:"), ("eth0", "192.0.2.10:"), ("eth1", "198.51.100.10:")] as [(String?, String)])
    func connectionsLeaveByTheInterfaceThatIsSet(_ interface: String?, _ localEnd: String) async throws {
        try await RouterScene.with(address: "203.0.113.1/32", Self.answer) { scene in
            try scene.network.connectSecondUplink()
            try scene.network.device.ip("route add default via 198.51.100.1 dev eth1 metric 100")
            // Answers come in where the device would not send to the server by itself; a strict filter drops those.
            try scene.network.device.set("ipv4/conf/eth1/rp_filter", to: 2)
            var configuration = CurlTransport.Configuration()
            configuration.localEnd = interface.map { CurlTransport.LocalEnd.interface($0) }
            try await scene.withClient(configuration) { _, transport in
                let recorder = Recorder()
                let response = try await transport.get("http://203.0.113.1:\(RouterScene.port)/", recorder)
                #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
                let address = try #require(recorder.connection).localAddress
                #expect(address.hasPrefix(localEnd), "\(address)")
            }
        }
    }
}
