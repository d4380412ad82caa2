// SPDX-License-Identifier: Apache-2.0
import Harness
import SystemPackage
import UplinkCurl
import UplinkEventLoop
import UplinkHTTP

extension Work {
    /// Uplink, with the consumer on the default pool, or preferring the loop's executor.
    func uplink(_ run: Run, onLoop: Bool) async throws {
        try await withEventLoop { loop in
            var configuration = CurlTransport.Configuration()
            configuration.maximumConcurrentTransfers = max(128, concurrency)
            configuration.maximumConcurrentTransfersPerHost = max(128, concurrency)
            configuration.maximumIdleConnections = max(32, concurrency)
            if isTLS { configuration.trust = .authorities(FilePath(Server.authorities)) }
            let transport = try CurlTransport(on: loop, configuration: configuration)
            let client = HTTPClient(transport: transport)
            if onLoop {
                try await withTaskExecutorPreference(loop) { try await measure(run, client) }
            } else {
                try await measure(run, client)
            }
            await transport.shutdown()
        }
    }

    private func measure(_ run: Run, _ client: HTTPClient) async throws {
        let (url, sink, body, file) = (url, sink, body, FilePath(file))
        try await measure(run) {
            try await client.get(warmUpURL).body.collect(upTo: 1 << 20).count
        } _: {
            let response = try await client.get(url)
            switch sink {
            case .count:
                var count = 0
                for try await chunk in response.body { count += chunk.count }
                return count
            case .memory: return try await response.body.collect(upTo: body).count
            case .file: return Int(try await response.body.write(to: file, replacingExisting: true))
            }
        }
    }
}
