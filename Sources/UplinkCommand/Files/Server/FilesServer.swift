// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import FlyingSocks
import Glibc

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
        try await listening(on: address, port) { socket, hasBegun in
            try await HTTPServer.running(at: socket, handler(of: service)) {
                hasBegun()
                try await body(url($0))
            }
        }
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - address: An IPv4 or IPv6 address of this host.
    ///   - port: Zero for any that is free.
    ///   - ready: Gets the server's URL, once it listens.
    /// - Throws: ``CommandFailure`` when it cannot listen there, or cannot go on; what `ready` throws;
    ///   `CancellationError`.
    static func serve(
        _ service: FilesService, address: String, port: UInt16, _ ready: (_ url: String) throws -> Void
    ) async throws {
        try await listening(on: address, port) { socket, hasBegun in
            try await HTTPServer.serve(at: socket, handler(of: service)) {
                hasBegun()
                try ready(url($0))
            }
        }
    }

    /// Explains the error of a server that ends before or after it has begun to listen.
    private static func listening(
        on address: String, _ port: UInt16, _ serve: (any SocketAddress, _ hasBegun: () -> Void) async throws -> Void
    ) async throws {
        var isListening = false
        do {
            let socket: any SocketAddress =
                address.contains(":")
                ? try sockaddr_in6.inet6(ip6: address, port: port) : try sockaddr_in.inet(ip4: address, port: port)
            try await serve(socket) { isListening = true }
        } catch let error as SocketError {
            throw CommandFailure(
                isListening
                    ? "the server cannot go on: \(error.reason); see `ulimit -n`, and start it again"
                    : "no server can listen on \(address), port \(port): \(error.reason); choose another --port or "
                        + "--address")
        }
    }

    private static func handler(of service: FilesService) -> ClosureHTTPHandler {
        ClosureHTTPHandler { try await service.respond(to: $0) }
    }

    private static func url(_ address: Socket.Address) -> String { "http://\(address.authority ?? "")" }
}

extension SocketError {
    /// The system's description.
    fileprivate var reason: String {
        switch self {
        case .failed(_, _, let message), .timeout(let message): message
        case .unsupportedAddress: "this is no address"
        case .blocked, .disconnected: "it ended at once"
        }
    }
}
