// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// A token's provider that asks the host which has refused the token.
@Suite(.timeLimit(.minutes(1)))
struct RefusedTokenTests {
    /// The refusals hold all of the host's places, and are longer than what is buffered of them.
    @Test(arguments: [100, 150_000]) func refusalsAreNotInTheProvidersWay(length: Int) async throws {
        let refusal = "HTTP/1.1 401 Unauthorized\r\nContent-Length: \(length)\r\n\r\n"
        let script: [RawServer.Step] = [
            .answer { head in
                if head.contains("/token") { return [.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew")] }
                if head.contains("Bearer new") { return [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")] }
                return [.send(refusal), .fill(length)]
            }, .loop,
        ]
        try await withServer(script) { server in
            var transport = CurlTransport.Configuration()
            transport.maximumConcurrentTransfersPerHost = 2
            var configuration = HTTPClient.Configuration()
            configuration.limits.bufferedBytes = 64 << 10
            try await withClient(configuration, transport: transport) { plain, curl in
                configuration.timeouts.total = .seconds(20)
                configuration.middlewares = [
                    try .bearer(for: [server.url("")]) { refused in
                        guard refused != nil else { return "old" }
                        let answer = try await plain.get(server.url("/token"))
                        return String(decoding: try await answer.body.collect(upTo: 3), as: UTF8.self)
                    }
                ]
                let client = HTTPClient(transport: curl, configuration: configuration)
                async let one = client.get(server.url("/a")).body.collect(upTo: 2)
                async let other = client.get(server.url("/b")).body.collect(upTo: 2)
                #expect(try await [one, other] == [Array("ok".utf8), Array("ok".utf8)])
            }
        }
    }
}
