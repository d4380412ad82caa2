// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP

@testable import UplinkCurl

/// libcurl's handles are used again, with what their last transfer has set: a request goes out as if it were the first.
@Suite(.timeLimit(.minutes(1)))
struct HandleReuseTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    private struct Question {
        var method = HTTPRequest.Method.get
        var path = "/"
        var fields: [(String, String)] = []
        var body = HTTPRequestBody.none

        func ask(_ client: HTTPClient, _ server: RawServer) async throws {
            var request = try HTTPRequest(parsing: server.url(path), method: method)
            for (name, value) in fields {
                request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
            }
            let options = HTTPRequestOptions(isIdempotent: true)  // or it would have a connection of its own
            _ = try await client.execute(request, body: body, options: options).body.collect(upTo: 0)
        }
    }

    /// Each differs from the one before in something that counts, or in nothing.
    private static let questions = [
        Question(), Question(), Question(path: "/b"), Question(path: "/b?c"), Question(path: "/b?"),
        Question(path: "/b"), Question(), Question(path: "//b//"), Question(path: "/%2F/%2e%2E%2fb"),
        Question(path: "/b/..%2f?c=/../d&e=%20?'"),
        Question(fields: [("X-A", "1")]), Question(fields: [("X-A", "1")]), Question(fields: [("X-A", "2")]),
        Question(fields: [("x-a", "2")]), Question(path: "/b", fields: [("x-a", "2")]),
        Question(fields: [("X-A", "1"), ("X-B", "2")]), Question(fields: [("X-B", "2"), ("X-A", "1")]),
        Question(fields: [("X-B", "2")]), Question(fields: [("X-B", "")]), Question(fields: [("X-B", "")]),
        Question(fields: [("X-B", "1"), ("X-B", "1")]), Question(fields: [("X-B", "1, 1")]),
        Question(fields: [("X-B", "\u{E9}")]), Question(fields: [("X-B", "e\u{301}")]),  // equal as strings
        Question(method: .head, fields: [("X-B", "1")]), Question(fields: [("X-B", "1")]), Question(method: .head),
        Question(method: .post, fields: [("X-B", "1")], body: .text("hello")), Question(fields: [("X-B", "1")]),
        Question(method: .put, fields: [("X-B", "1")]), Question(method: .options, fields: [("X-B", "1")]), Question(),
        Question(method: .head), Question(method: .delete), Question(method: .head), Question(body: .text("hello")),
        Question(method: .head), Question(method: .head), Question(),
    ]

    /// Older versions of libcurl would append it to the last field of the handle's last answer, which is freed memory.
    @Test(arguments: [
        "HTTP/1.1 200 OK", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK",
        "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK",
        "HTTP/1.1 200 \(String(repeating: "k", count: 20_000))",  // libcurl gives a callback 16 KiB of a line at once
    ])
    func aFoldAtTheBeginningOfAHeadIsAppendedToNothing(_ start: String) async throws {
        let first = "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2\r\n\r\nok"
        let second = "\(start)\r\n\t X: y\r\nContent-Length: 2\r\n\r\nok"
        try await withServer([.readHead, .send(first), .readHead, .send(second), .waitForClose]) { server in
            try await withClient { client, _ in
                for _ in 0..<10 {
                    let body = try await client.get(server.url()).body.collect(upTo: 2)
                    #expect(body == Array("ok".utf8))
                    let (error, _) = await failure { _ = try await client.get(server.url()) }
                    #expect(error?.code == .invalidFraming)
                }
            }
        }
    }

    /// It is looked for in heads alone.
    @Test(arguments: ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nHTTP: 1\r\n\r\n", "HTTP/1.0 200 OK\n\n"])
    func aBodyMayBeginWithABlank(_ head: String) async throws {
        try await withServer([.readHead, .send("\(head) \tok"), .close]) { server in
            try await withClient { client, _ in
                for _ in 0..<5 {
                    let body = try await client.get(server.url()).body.collect(upTo: 4)
                    #expect(body == Array(" \tok".utf8))
                }
            }
        }
    }

    /// The second piece of a line in libcurl's callback is no line.
    @Test func aLongFirstFieldMayHaveABlankAnywhere() async throws {
        let value = String(repeating: " k", count: 20_000)
        for shift in ["a", "aa"] {
            let head = "HTTP/1.1 200 OK\r\nX: \(shift)\(value)\r\nContent-Length: 2\r\n\r\nok"
            try await withServer([.readHead, .send(head), .loop]) { server in
                try await withClient { client, _ in
                    for _ in 0..<2 {
                        let response = try await client.get(server.url())
                        #expect(response.headerFields[.init("X")!] == shift + value)
                        #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
                    }
                }
            }
        }
    }

    @Test func everyRequestGoesOutAsIfItWereTheFirst() async throws {
        try await withServer([.readHead, .readBody(), .send(Self.answer), .loop]) { server in
            try await withClient { client, _ in
                for question in Self.questions { try await question.ask(client, server) }
            }
            let again = server.heads
            for question in Self.questions {
                try await withClient { client, _ in try await question.ask(client, server) }
            }
            let first = Array(server.heads.dropFirst(again.count))
            try #require(again.count == Self.questions.count && first.count == again.count)
            for (one, other) in zip(again, first) { #expect(Array(one.utf8) == Array(other.utf8), "\(one)") }
            for (head, question) in zip(again, Self.questions) {
                #expect(head.hasPrefix("\(question.method.rawValue) \(question.path) HTTP/1.1\r\n"), "\(head)")
                #expect(head.contains("\r\nHost: 127.0.0.1:\(server.port)\r\n"), "\(head)")
            }
        }
    }

    private static let origins = ["http://origin.test:8080", "http://[2001:db8::1]:81", "http://192.0.2.1"]
    private static let paths = ["/", "//b//?c", "/%2F/%2e%2E%2fb", "/b/..%2f?c=/../d&e=%20?'", "/b?c", "/b?c", "/"]

    /// Asks for every path of every origin, and returns the first lines that the server got.
    private func lines(
        _ server: RawServer, _ configuration: CurlTransport.Configuration, from origins: [String]
    ) async throws -> [String] {
        try await withClient(transport: configuration) { client, _ in
            for origin in origins {
                for path in Self.paths { _ = try await client.get("\(origin)\(path)#d").body.collect(upTo: 0) }
            }
        }
        return server.heads.map { String($0.prefix { $0 != "\r\n" }) }
    }

    @Test func theTargetIsTheURLsWhateverTheHost() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        var configuration = CurlTransport.Configuration()
        configuration.unixSocket = directory.path.appending("socket")
        let server = try RawServer([.readHead, .send(Self.answer), .loop], at: directory.path.appending("socket"))
        defer { server.stop() }
        let expected = Self.origins.flatMap { _ in Self.paths.map { "GET \($0) HTTP/1.1" } }
        #expect(try await lines(server, configuration, from: Self.origins) == expected)
        let hosts = Self.origins.flatMap { origin in Self.paths.map { _ in "Host: \(origin.dropFirst(7))\r\n" } }
        #expect(zip(server.heads, hosts).allSatisfy { $0.contains($1) })
    }

    /// A proxy for plain requests is sent the whole URL, on a handle that is reset after each.
    @Test func aProxyIsSentTheURLItself() async throws {
        try await withServer([.readHead, .send(Self.answer), .loop]) { server in
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .always(try .init("http://127.0.0.1:\(server.port)"), except: [])
            let origins = Self.origins.filter { !$0.contains("[") || !LibCurl.refusesIPv6ThroughProxies }
            let expected = origins.flatMap { origin in Self.paths.map { "GET \(origin)\($0) HTTP/1.1" } }
            #expect(try await lines(server, configuration, from: origins) == expected)
        }
    }

    /// libcurl takes a connection that was kept and has died for a reason to begin again, with the URL that it was
    /// given.
    @Test func aRequestOverADeadConnectionIsRepeatedAsItWas() async throws {
        let dying: [RawServer.Step] = [.readHead, .send(Self.answer), .readHead]
        try await withServer(dying, [.readHead, .send(Self.answer), .loop]) { server in
            try await withClient { client, _ in
                for _ in 0..<4 {
                    _ = try await client.get(server.url("//b?c"), headers: [.accept: "a/b"]).body.collect(upTo: 0)
                }
            }
            #expect(server.heads.count == 5)
            #expect(Set(server.heads).count == 1)
            #expect(server.heads[0].hasPrefix("GET //b?c HTTP/1.1\r\n"))
        }
    }

    @Test func aHandleWhoseTransferFailedOrWasCancelledSendsTheSame() async throws {
        let question = Question(path: "/b?c", fields: [("X-B", "1")])
        let answering = RawServer.Step.answer { head in
            head.hasPrefix("GET /f ") ? [.reset] : head.hasPrefix("GET /w ") ? [.waitForClose] : [.send(Self.answer)]
        }
        try await withServer([answering, .loop]) { server in
            try await withClient { client, _ in
                let failing = Question(path: "/f", fields: [("X-A", "1"), ("X-B", "2")])
                await #expect(throws: HTTPClientError.self) { try await failing.ask(client, server) }
                let waiting = Task { try await Question(path: "/w", fields: [("X-B", "3")]).ask(client, server) }
                try await eventually { server.heads.count == 2 }
                waiting.cancel()
                await #expect(throws: CancellationError.self) { try await waiting.value }
                for _ in 0..<2 { try await question.ask(client, server) }
            }
            try await withClient { client, _ in try await question.ask(client, server) }
            #expect(server.heads.count == 5)
            #expect(server.heads[0].hasPrefix("GET /f HTTP/1.1\r\n"))
            #expect(server.heads[1].hasPrefix("GET /w HTTP/1.1\r\n"))
            #expect(Set(server.heads.dropFirst(2)).count == 1)
            #expect(server.heads[2].hasPrefix("GET /b?c HTTP/1.1\r\n") && server.heads[2].contains("\r\nX-B: 1\r\n"))
        }
    }

    /// A handle that had addresses of its own is reset, and knows nothing of what it had before.
    @Test func aHandleThatWasResetSendsTheSame() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.resolve["example.org:*"] = [try #require(IPAddress("127.0.0.1"))]
        try await withServer([.readHead, .send(Self.answer), .loop]) { server in
            try await withClient(transport: configuration) { client, _ in
                for host in ["127.0.0.1", "127.0.0.1", "example.org", "127.0.0.1", "example.org"] {
                    let url = server.url("/a").replacing("127.0.0.1", with: host)
                    _ = try await client.get(url, headers: [.accept: "text/plain"]).body.collect(upTo: 0)
                }
            }
            #expect(server.heads.count == 5)
            for head in server.heads {
                #expect(head.hasPrefix("GET /a HTTP/1.1\r\n"))
                #expect(head.contains("Accept: text/plain\r\n"))
            }
        }
    }
}
