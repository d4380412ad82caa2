// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// Trailers that come while the transfer is held up, because its reader is slow: libcurl keeps them with the body, and
/// brings all of them at once when the transfer goes on.
@Suite(.timeLimit(.minutes(1)))
struct TrailerTests {
    /// A body of two chunks, of which the second one holds the transfer up, and trailers behind it.
    private func script(_ trailers: String) -> [RawServer.Step] {
        let second = String(repeating: "x", count: 2_000)
        let body = "1\r\nx\r\n7d0\r\n\(second)\r\n0\r\n\(trailers)\r\n"
        return [.readHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"), .waitForClose]
    }

    private var smallBuffer: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.limits.bufferedBytes = 1_000
        return configuration
    }

    @Test func severalTrailersBehindAPauseAreSeveral() async throws {
        try await withServer(script("X-One: 1\r\nX-Two: 2\r\n")) { server in
            try await withClient(smallBuffer) { client, _ in
                let body = try await client.get(server.url(), timeouts: HTTPTimeouts(stall: .seconds(20))).body
                #expect(try await body.discard() == 2_001)
                #expect(body.trailerFields?[HTTPField.Name("X-One")!] == "1")
                #expect(body.trailerFields?[HTTPField.Name("X-Two")!] == "2")
            }
        }
    }

    @Test func aBadTrailerBehindAPauseIsTold() async throws {
        try await withServer(script("X-One : 1\r\n")) { server in
            try await withClient(smallBuffer) { client, _ in
                let (error, _) = await failure {
                    _ = try await client.get(server.url(), timeouts: HTTPTimeouts(stall: .seconds(20))).body.discard()
                }
                #expect(error?.code == .invalidFraming)
                #expect(error?.phase == .body)
            }
        }
    }
}
