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
        let (url, body, file) = (url, body, FilePath(file))
        let ask: Ask =
            switch sink {
            case .count:
                {
                    var count = 0
                    for try await chunk in try await client.get(url).body { count += chunk.count }
                    return count
                }
            case .memory: { try await client.get(url).body.collect(upTo: body).count }
            case .file: { Int(try await client.get(url).body.write(to: file, replacingExisting: true)) }
            }
        try await measure(run, warmUp: { try await client.get(warmUpURL).body.collect(upTo: 1 << 20).count }, ask)
    }
}
