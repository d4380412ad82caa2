// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct BasicTests {
    @Test func aGetBringsHeadAndBody() async throws {
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello"), .loop]) {
            server in
            try await withClient { client, _ in
                let response = try await client.get(server.url("/a?b=c#d"), headers: [.accept: "text/plain"])
                #expect(response.status == .ok)
                #expect(response.headerFields[HTTPField.Name("X-A")!] == "b")
                #expect(response.url == server.url("/a?b=c#d"))
                #expect(response.body.contentLength == 5)
                #expect(try await response.body.collect(upTo: 5) == Array("hello".utf8))
            }
            let head = try #require(server.heads.first)
            #expect(head.hasPrefix("GET /a?b=c HTTP/1.1\r\n"))
            #expect(head.contains("Accept: text/plain\r\n"))
            #expect(head.contains("User-Agent: uplink\r\n"))
            #if Compression
            #expect(head.contains("Accept-Encoding: gzip, deflate\r\n"))
            #else
            #expect(!head.lowercased().contains("accept-encoding"))
            #endif
            #expect(!head.lowercased().contains("expect:"))
        }
    }

    @Test func connectionsAreUsedAgain() async throws {
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop]) { server in
            try await withClient { client, _ in
                for _ in 0..<20 {
                    let body = try await client.get(server.url()).body.collect(upTo: 10)
                    #expect(body == Array("ok".utf8))
                }
            }
            #expect(server.connections.count == 1)
            #expect(server.heads.count == 20)
        }
    }

    @Test func aHeadWaitsForNoBody() async throws {
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), .waitForClose]) {
            server in
            try await withClient { client, _ in
                let response = try await client.head(server.url())
                #expect(response.body.contentLength == 5)
                #expect(response.body.framing == .none)
                #expect(try await response.body.collect(upTo: 0).isEmpty)
            }
            #expect(server.heads.first?.hasPrefix("HEAD / ") == true)
        }
    }

    @Test func statusesAreNoErrors() async throws {
        try await withServer([.readHead, .send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")]) { server in
            try await withClient { client, _ in
                let response = try await client.get(server.url())
                #expect(response.status == .notFound)
            }
        }
    }

    @Test func theHeadComesBeforeTheBody() async throws {
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), .waitForClose]) {
            server in
            try await withClient { client, _ in
                let response = try await client.get(server.url())
                #expect(response.status == .ok)
            }
        }
    }

    @Test func trailersAreVisibleAfterTheBody() async throws {
        let body = "3\r\nabc\r\n2\r\nde\r\n0\r\nX-One: 1\r\nX-Two: 2\r\n\r\n"
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(body)")]) {
            server in
            try await withClient { client, _ in
                let response = try await client.get(server.url())
                #expect(response.body.framing == .chunked)
                #expect(try await response.body.collect(upTo: 5) == Array("abcde".utf8))
                #expect(response.body.trailerFields?.count == 2)
                #expect(response.body.trailerFields?[HTTPField.Name("X-Two")!] == "2")
            }
        }
    }

    @Test func aThousandRequestsAtOnceAllEnd() async throws {
        try await withServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .loop]) { server in
            var transport = CurlTransport.Configuration()
            transport.maximumConcurrentTransfers = 6
            try await withClient(transport: transport) { client, _ in
                try await withThrowingDiscardingTaskGroup { group in
                    for _ in 0..<1000 {
                        group.addTask {
                            let body = try await client.get(server.url()).body.collect(upTo: 10)
                            #expect(body.count == 2)
                        }
                    }
                }
            }
            #expect(server.heads.count == 1000)
            #expect(server.connections.count <= 6)
        }
    }

    @Test func whoComesSecondToABodyDoesNotDisturbTheFirst() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
        try await withServer([.readHead, .send("\(head)hello"), .pause(.milliseconds(300)), .send("world")]) { server in
            try await withClient { client, _ in
                let body = try await client.get(server.url()).body
                var iterator = body.makeAsyncIterator()
                var bytes = try await iterator.next()?.bytes ?? []
                let (error, _) = await failure { _ = try await body.collect(upTo: 10, within: .zero) }
                #expect(error?.code == .bodyAlreadyUsed)
                while let chunk = try await iterator.next() { bytes += chunk.bytes }
                #expect(bytes == Array("helloworld".utf8))
            }
        }
    }

    @Test func aRedirectsBodyThatDoesNotComeHoldsNobodyUp() async throws {
        let redirect = "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 100\r\n\r\n"
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        try await withServer([.readHead, .send(redirect), .waitForClose], [.readHead, .send(answer)]) { server in
            try await withClient { client, _ in
                let start = ContinuousClock.now
                let bytes = try await client.get(server.url()).body.collect(upTo: 2)
                #expect(bytes == Array("ok".utf8))
                #expect(ContinuousClock.now - start < .seconds(20))  // the stall timeout is 30
            }
        }
    }

    @Test func aClosedTransportRefuses() async throws {
        try await withClient { client, transport in
            await transport.shutdown()
            let (error, _) = await failure { _ = try await client.get("http://127.0.0.1:1/") }
            #expect(error?.code == .closed)
            #expect(error?.requestDisposition == .notSent)
        }
    }
}
