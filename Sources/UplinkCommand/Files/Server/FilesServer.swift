// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import FlyingSocks

/// The server of the contract, over a socket.
enum FilesServer {
    /// Serves for as long as `body` runs.
    ///
    /// - Parameters:
    ///   - address: An IPv4 or IPv6 address of this host.
    ///   - port: Zero for any that is free.
    ///   - body: Gets the server's URL, once it listens.
    /// - Throws: ``CommandFailure`` when it cannot listen there, or what `body` throws.
    static func withServer(
        _ service: FilesService, address: String = "127.0.0.1", port: UInt16 = 0,
        _ body: (_ url: String) async throws -> Void
    ) async throws {
        let handler = ClosureHTTPHandler { try await service.respond(to: $0) }
        func serve(_ address: some SocketAddress) async throws {
            try await HTTPServer.running(at: address, handler) { try await body("http://\($0.authority ?? "")") }
        }
        do {
            if address.contains(":") {
                try await serve(.inet6(ip6: address, port: port))
            } else {
                try await serve(.inet(ip4: address, port: port))
            }
        } catch let error as SocketError {
            throw CommandFailure(
                "no server can listen on \(address), port \(port): \(error.reason); choose another --port or --address")
        }
    }
}

extension SocketError {
    /// What the system says.
    fileprivate var reason: String {
        switch self {
        case .failed(_, _, let message), .timeout(let message): message
        case .unsupportedAddress: "this is no address"
        case .blocked, .disconnected: "it ended at once"
        }
    }
}
