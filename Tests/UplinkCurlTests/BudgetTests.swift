// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// What all bodies of a transport hold together.
@Suite(.timeLimit(.minutes(1)), .undisturbed, .serialized)
struct BudgetTests {
    @Test func allBodiesTogetherHoldNoMoreThanTheirBudget() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.maximumBufferedBytes = 300_000
        let count = 10
        configuration.maximumConcurrentTransfersPerHost = count
        let total = 4_000_000
        let script: [RawServer.Step] = [
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n"), .fill(total), .loop,
        ]
        try await withServer(script) { server in
            try await withClient(transport: configuration) { client, transport in
                var bodies: [HTTPBody] = []
                for _ in 0..<count { bodies.append(try await client.get(server.url()).body) }
                // Nobody reads: what is held comes to rest, below what ten high marks would be.
                var held = -1
                try await eventually {
                    let now = transport.bufferedBytes
                    defer { held = now }
                    try await Task.sleep(for: .milliseconds(50))
                    return now == held && now > 0
                }
                #expect(held <= 300_000 + count * 16_384 + 16_384, "\(held)")
                let sizes = try await withThrowingTaskGroup { group in
                    for body in bodies { group.addTask { try await body.discard() } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(sizes == Array(repeating: Int64(total), count: count))
                #expect(transport.bufferedBytes == 0)
            }
        }
    }

    @Test func whatNobodyReadsIsNotCountedForEver() async throws {
        let script: [RawServer.Step] = [.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop]
        try await withServer(script) { server in
            try await withClient { client, transport in
                for _ in 0..<20 { _ = try await client.get(server.url()) }  // the bodies are dropped unread
                try await eventually { transport.bufferedBytes == 0 }
                #expect(await transport.census().transfers == 0)
            }
        }
    }
}
