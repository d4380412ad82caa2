// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import FlyingSocks
import Foundation

/// The server of the contract, over a socket.
enum FilesServer {
    /// Serves for as long as `body` runs.
    ///
    /// - Parameters:
    ///   - address: An IPv4 or IPv6 address of this host.
    ///   - port: Zero for any that is free.
    ///   - body: Gets the server's URL, once it listens.
    static func withServer(
        _ service: FilesService, address: String = "127.0.0.1", port: UInt16 = 0,
        _ body: (_ url: String) async throws -> Void
    ) async throws {
        let isIPv6 = address.contains(":")
        // Bodies are not kept for a second reading, and an upload may take its time.
        func configuration(_ address: some SocketAddress) -> HTTPServer.Configuration {
            HTTPServer.Configuration(
                address: address, timeout: 86_400, sharedRequestBufferSize: 65_536, sharedRequestReplaySize: 0,
                logger: .disabled)
        }
        let settings =
            isIPv6
            ? configuration(try .inet6(ip6: address, port: port)) : configuration(try .inet(ip4: address, port: port))
        let server = HTTPServer(config: settings, handler: ClosureHTTPHandler { try await service.respond(to: $0) })
        let running = Task { try await server.run() }
        defer { running.cancel() }
        do {
            try await server.waitUntilListening(timeout: 5)
        } catch {
            throw CommandFailure("no server can listen on \(address), port \(port); choose another --port or --address")
        }
        switch await server.listeningAddress {
        case .ip4(let host, let port): try await body("http://\(host):\(port)")
        case .ip6(let host, let port): try await body("http://[\(host)]:\(port)")
        case .unix, nil: throw CommandFailure("the server does not listen")
        }
    }
}
