// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Harness
import NIOCore
import NIOPosix
import NIOSSL

extension Work {
    /// AsyncHTTPClient on one event loop, as Uplink has.
    func asyncHTTPClient(_ run: Run) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(10), read: .seconds(60)), decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(8, concurrency)
        if isTLS {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(Server.authorities)
            configuration.tlsConfiguration = tls
        }
        let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
        let (url, body, file) = (url, body, file)
        let get: @Sendable () async throws -> HTTPClientResponse = {
            try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(600))
        }
        let ask: Ask =
            switch sink {
            case .count:
                {
                    var count = 0
                    for try await buffer in try await get().body { count += buffer.readableBytes }
                    return count
                }
            case .memory: { try await get().body.collect(upTo: body).readableBytes }
            case .file:
                {
                    let delegate = try FileDownloadDelegate(path: file)
                    return try await client.execute(request: HTTPClient.Request(url: url), delegate: delegate).get()
                        .receivedBytes
                }
            }
        try await measure(
            run,
            warmUp: {
                try await client.execute(HTTPClientRequest(url: warmUpURL), timeout: .seconds(60))
                    .body.collect(upTo: 1 << 20).readableBytes
            }, ask)
        try await client.shutdown()
        try await group.shutdownGracefully()
    }
}
