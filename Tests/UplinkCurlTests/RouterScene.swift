// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP
import UplinkTesting

/// A server on the router of a test network, at every IPv4 address of it, and a loop on the device. No monitor: what
/// changes, the test tells.
struct RouterScene {
    /// Nobody else is in the router's namespace.
    static let port: UInt16 = 8080

    let network: TestNetwork
    let server: RawServer
    /// On the device.
    let loop: EventLoop

    /// - Parameter address: One with its prefix length, which the router gets beside its own. The device's default
    ///   route leads there.
    static func with(
        _ beginning: TestNetwork.Beginning = .ipv4, address: String, _ script: [RawServer.Step],
        _ body: (RouterScene) async throws -> Void
    ) async throws {
        try await withTestNetwork(beginning) { network in
            try network.router.ip("addr add \(address) dev lo")
            try await withEventLoop(networkNamespace: network.router.path) { far in
                // On that loop's thread, because what is made there belongs to the router.
                let server = try await withCheckedThrowingContinuation { continuation in
                    far.execute {
                        continuation.resume(
                            with: Result { try RawServer(script, address: "0.0.0.0", port: RouterScene.port) })
                    }
                }
                defer { server.stop() }
                try await withEventLoop(networkNamespace: network.device.path) { loop in
                    try await body(RouterScene(network: network, server: server, loop: loop))
                }
            }
        }
    }

    /// Runs `body` with a client on the device, and sees to it that nothing is left.
    func withClient(
        _ configuration: CurlTransport.Configuration, _ body: (HTTPClient, CurlTransport) async throws -> Void
    ) async throws {
        let transport = try CurlTransport(on: loop, configuration: configuration)
        do { try await body(HTTPClient(transport: transport), transport) } catch {
            await transport.shutdown()
            throw error
        }
        await transport.shutdown()
        #expect(await transport.census() == (0, 0))
    }
}
