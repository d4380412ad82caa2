// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

/// Runs `body` with a client of its own, on a loop of its own, and sees to it that nothing is left.
func withClient<Result>(
    _ configuration: HTTPClient.Configuration = .init(), transport: CurlTransport.Configuration = .init(),
    _ body: (HTTPClient, CurlTransport) async throws -> Result
) async throws -> Result {
    try await withEventLoop { loop in
        let curl = try CurlTransport(on: loop, configuration: transport)
        let client = HTTPClient(transport: curl, configuration: configuration)
        do {
            let result = try await body(client, curl)
            await curl.shutdown()
            let (transfers, sockets) = await curl.census()
            #expect(transfers == 0 && sockets == 0)
            return result
        } catch {
            await curl.shutdown()
            throw error
        }
    }
}

/// Runs `body` with a server, and ends the server.
func withServer<Result>(
    _ scripts: [RawServer.Step]..., body: (RawServer) async throws -> Result
) async throws -> Result {
    let server: RawServer
    switch scripts.count {
    case 1: server = try RawServer(scripts[0])
    case 2: server = try RawServer(scripts[0], scripts[1])
    case 3: server = try RawServer(scripts[0], scripts[1], scripts[2])
    default: preconditionFailure("one to three scripts")
    }
    defer { server.stop() }
    return try await body(server)
}

/// The error that `body` throws, with the time that took.
func failure(_ body: () async throws -> Void) async -> (error: HTTPClientError?, time: Duration) {
    let start = ContinuousClock.now
    do {
        try await body()
        Issue.record("expected an error")
        return (nil, .zero)
    } catch let error as HTTPClientError {
        return (error, ContinuousClock.now - start)
    } catch {
        Issue.record("expected HTTPClientError, got \(error)")
        return (nil, .zero)
    }
}

extension HTTPBody {
    /// Reads everything and keeps nothing.
    func discard() async throws -> Int64 {
        var count: Int64 = 0
        for try await chunk in self { count += Int64(chunk.count) }
        return count
    }
}
