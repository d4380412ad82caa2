// SPDX-License-Identifier: Apache-2.0
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

/// Requests to a server on loopback, made and read on the loop.
enum Transfers {
    /// Small answers, so many requests at once.
    static func small(_ count: Int, atOnce concurrency: Int, _ server: String) async throws {
        try await withClient { client in
            let worker: @Sendable (Int) async throws -> Void = { first in
                for _ in stride(from: first, to: count, by: concurrency) {
                    try check(try await client.get("\(server)/small").body.collect(upTo: 1 << 20).count == 100)
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for first in 0..<concurrency { group.addTask { try await worker(first) } }
                try await group.waitForAll()
            }
        }
    }

    /// One body of so many MiB as a stream of chunks.
    static func stream(mebibytes: Int, _ server: String) async throws {
        try await withClient { client in
            var received = 0
            for try await chunk in try await client.get("\(server)/zeros-\(mebibytes)").body { received += chunk.count }
            try check(received == mebibytes << 20)
        }
    }

    /// One body of so many MiB into memory.
    static func collect(mebibytes: Int, _ server: String) async throws {
        try await withClient { client in
            let body = try await client.get("\(server)/zeros-\(mebibytes)").body.collect(upTo: mebibytes << 20)
            try check(body.count == mebibytes << 20)
        }
    }

    private static func withClient(_ body: @escaping @Sendable (HTTPClient) async throws -> Void) async throws {
        try await withEventLoop { loop in
            var configuration = CurlTransport.Configuration()
            configuration.maximumConcurrentTransfersPerHost = 128
            configuration.maximumIdleConnections = 64
            let transport = try CurlTransport(on: loop, configuration: configuration)
            try await withTaskExecutorPreference(loop) { try await body(HTTPClient(transport: transport)) }
            await transport.shutdown()
        }
    }
}
