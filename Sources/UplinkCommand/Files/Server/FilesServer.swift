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
        func run(_ address: some SocketAddress) async throws {
            try await HTTPServer.running(at: address, handler) { try await body(Self.url($0)) }
        }
        do {
            if address.contains(":") {
                try await run(.inet6(ip6: address, port: port))
            } else {
                try await run(.inet(ip4: address, port: port))
            }
        } catch let error as SocketError {
            throw failure(to: address, port, error)
        }
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - address: An IPv4 or IPv6 address of this host.
    ///   - port: Zero for any that is free.
    ///   - ready: Gets the server's URL, once it listens.
    /// - Throws: ``CommandFailure`` when it cannot listen there, or cannot go on; what `ready` throws; `CancellationError`.
    static func serve(
        _ service: FilesService, address: String, port: UInt16, _ ready: (_ url: String) throws -> Void
    ) async throws {
        let handler = ClosureHTTPHandler { try await service.respond(to: $0) }
        var isListening = false
        func run(_ address: some SocketAddress) async throws {
            try await HTTPServer.serve(at: address, handler) {
                isListening = true
                try ready(Self.url($0))
            }
        }
        do {
            if address.contains(":") {
                try await run(.inet6(ip6: address, port: port))
            } else {
                try await run(.inet(ip4: address, port: port))
            }
        } catch let error as SocketError {
            guard isListening else { throw failure(to: address, port, error) }
            throw CommandFailure("the server cannot go on: \(error.reason); see `ulimit -n`, and start it again")
        }
    }

    private static func url(_ address: Socket.Address) -> String { "http://\(address.authority ?? "")" }

    private static func failure(to address: String, _ port: UInt16, _ error: SocketError) -> CommandFailure {
        CommandFailure(
            "no server can listen on \(address), port \(port): \(error.reason); choose another --port or --address")
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
