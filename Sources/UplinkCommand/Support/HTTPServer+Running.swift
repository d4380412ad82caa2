// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import FlyingSocks
import Foundation

extension HTTPServer {
    /// Serves for as long as `body` runs, and leaves nothing of the server behind.
    ///
    /// Bodies of requests are not kept for a second reading; a handler reads them to the end.
    ///
    /// - Parameters:
    ///   - timeout: How many seconds may pass before an answer begins.
    ///   - body: Gets the address, once the server listens.
    /// - Throws: `SocketError` when it cannot listen, or what `body` throws.
    static func running<Value: Sendable>(
        at address: some SocketAddress, timeout: TimeInterval = 86_400, _ handler: some HTTPHandler,
        _ body: (Socket.Address) async throws -> Value
    ) async throws -> Value {
        try await running(at: address, timeout: timeout, handler) { address, _ in try await body(address) }
    }

    /// Serves until the task is cancelled, or the server cannot go on.
    ///
    /// - Parameter ready: Gets the address, once the server listens.
    /// - Throws: `SocketError`, also when no more connections can be accepted; what `ready` throws;
    ///   `CancellationError`.
    static func serve(
        at address: some SocketAddress, _ handler: some HTTPHandler, _ ready: (Socket.Address) throws -> Void
    ) async throws {
        try await running(at: address, timeout: 86_400, handler) { address, server in
            try ready(address)
            try await withTaskCancellationHandler {
                try await server.value
            } onCancel: {
                server.cancel()
            }
            try Task.checkCancellation()
            throw SocketError.disconnected
        }
    }

    private static func running<Value: Sendable>(
        at address: some SocketAddress, timeout: TimeInterval, _ handler: some HTTPHandler,
        _ body: (Socket.Address, _ server: Task<Void, any Error>) async throws -> Value
    ) async throws -> Value {
        let pool = LoopSocketPool()
        let configuration = Configuration(
            address: address, timeout: timeout, sharedRequestBufferSize: 65_536, sharedRequestReplaySize: 0, pool: pool,
            logger: .disabled)
        let server = HTTPServer(config: configuration, handler: handler)
        let running = Task {
            defer { pool.end() }
            try await server.run()
        }
        let outcome: Result<Value, any Error>
        do {
            for await _ in pool.listening { break }
            if let address = await server.listeningAddress {
                outcome = .success(try await body(address, running))
            } else {
                running.cancel()
                let error = await running.result.error ?? SocketError.disconnected
                outcome = .failure(Task.isCancelled ? CancellationError() : error)
            }
        } catch {
            outcome = .failure(error)
        }
        running.cancel()
        _ = await running.result
        return try outcome.get()
    }
}

extension Result {
    fileprivate var error: Failure? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }
}

extension Socket.Address {
    /// Host and port, as a URL has them; nil for a socket that is a file.
    var authority: String? {
        switch self {
        case .ip4(let host, let port): "\(host):\(port)"
        case .ip6(let host, let port): "[\(host)]:\(port)"
        case .unix: nil
        }
    }
}
