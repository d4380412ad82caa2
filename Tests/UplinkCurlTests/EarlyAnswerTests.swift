// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// Answers that come before the request's body is out.
@Suite(.timeLimit(.minutes(2)), .undisturbed, .serialized)
struct EarlyAnswerTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func post(_ server: RawServer) throws -> HTTPRequest {
        try HTTPRequest(parsing: server.url(), method: .post)
    }

    @Test(arguments: [0, 100_000]) func anEarlyRefusalIsTheAnswer(_ read: Int) async throws {
        let refusal = "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!"
        try await withServer([.readHead, .readSome(read), .send(refusal)]) { server in
            try await withClient { client, transport in
                for _ in 0..<20 {
                    let body = HTTPRequestBody.stream(Pieces([UInt8](repeating: 1, count: 32 << 20)), length: 32 << 20)
                    let response = try await client.execute(post(server), body: body)
                    #expect(response.status == .contentTooLarge)
                    #expect(try await response.body.collect(upTo: 3) == Array("no!".utf8))
                }
                #expect(await transport.census().transfers == 0)
            }
        }
    }

    /// libcurl waits for a producer that has nothing, though it would not send any more.
    @Test(arguments: [
        ("Content-Length: 3", "no!"), ("Content-Length: 0", ""),
        ("Transfer-Encoding: chunked", "3\r\nno!\r\n0\r\n\r\n"),
    ])
    func aRefusalDoesNotWaitForAProducerThatHasNothing(_ field: String, _ content: String) async throws {
        let refusal = "HTTP/1.1 413 Too Large\r\n\(field)\r\n\r\n\(content)"
        try await withServer([.readHead, .readSome(1000), .send(refusal), .waitForClose]) { server in
            try await withClient { client, transport in
                let body = HTTPRequestBody.stream(
                    Asking { number in
                        if number > 0 { try await Task.sleep(for: .seconds(1000)) }
                        return [UInt8](repeating: 1, count: 1000)
                    })
                let response = try await client.execute(
                    post(server), body: body, options: .init(timeouts: HTTPTimeouts(firstByte: nil, stall: nil)))
                #expect(response.status == .contentTooLarge)
                #expect(try await response.body.collect(upTo: 3, within: nil).count == (content.isEmpty ? 0 : 3))
                try await eventually { await transport.census() == (0, 0) }
            }
        }
    }

    @Test func anEarlyAnswerThatIsWholeIsTheAnswer() async throws {
        try await withServer([.readHead, .send(Self.answer), .pause(.milliseconds(50))]) { server in
            try await withClient { client, _ in
                let body = HTTPRequestBody.bytes([UInt8](repeating: 1, count: 32 << 20))
                let response = try await client.execute(post(server), body: body)
                #expect(response.status == .ok)
                #expect(try await response.body.collect(upTo: 3) == Array("ok".utf8))
            }
        }
    }

    /// What a server sends beyond its answer, while the rest of the request goes out, is not the next request's answer,
    /// which waits for the connection.
    @Test(arguments: ["204 No Content\r\n\r\n", "200 OK\r\nContent-Length: 2\r\n\r\nok"])
    func whatComesBeyondAnEarlyAnswerIsNobodys(_ early: String) async throws {
        let stray = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"
        let script: [RawServer.Step] = [
            .answer { head in
                guard head.hasPrefix("PUT ") else { return [.send(Self.answer)] }
                return [.send("HTTP/1.1 \(early)"), .pause(.milliseconds(100)), .send(stray), .readBody()]
            }, .loop,
        ]
        var configuration = CurlTransport.Configuration()
        configuration.maximumConcurrentTransfersPerHost = 1
        try await withServer(script) { server in
            try await withClient(transport: configuration) { client, _ in
                let body = HTTPRequestBody.stream(
                    Asking { number in
                        if number == 1 { try await Task.sleep(for: .milliseconds(400)) }
                        return number < 2 ? [UInt8](repeating: 1, count: 1000) : nil
                    })
                async let sending = client.put(server.url(), body: body)
                try await eventually { !server.heads.isEmpty }
                async let next = client.get(server.url())
                #expect(try await sending.status.kind == .successful)
                let text = try await next.body.collect(upTo: 9)
                #expect(text == Array("ok".utf8))
            }
            #expect(server.connections.map(\.heads.count) == [1, 1])
        }
    }
}
