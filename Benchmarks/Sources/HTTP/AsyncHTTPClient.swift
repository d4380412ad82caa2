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
        let (url, sink, body, file) = (url, sink, body, file)
        try await measure(run) {
            try await client.execute(HTTPClientRequest(url: warmUpURL), timeout: .seconds(60))
                .body.collect(upTo: 1 << 20).readableBytes
        } _: {
            guard sink != .file else {
                let delegate = try FileDownloadDelegate(path: file)
                let progress = try await client.execute(
                    request: HTTPClient.Request(url: url), delegate: delegate
                ).get()
                return progress.receivedBytes
            }
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(600))
            if sink == .memory { return try await response.body.collect(upTo: body).readableBytes }
            var count = 0
            for try await buffer in response.body { count += buffer.readableBytes }
            return count
        }
        try await client.shutdown()
        try await group.shutdownGracefully()
    }
}
