// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// Adds a field.
private struct Adding: HTTPMiddleware {
    let field: HTTPField

    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        var request = request
        request.head.headerFields.append(field)
        return try await next(request)
    }
}

/// Line breaks and control characters, by which one request would be made two or a field be smuggled in. A server
/// listens, who is to see nothing of it.
@Suite(.timeLimit(.minutes(1)))
struct ControlCharacterTests {
    static let names = ["X-A", "Referer", "Cookie", "User-Agent", "Content-Type"]
    private static let smuggling = "a\r\nX-Evil: 1\r\n\r\nGET /evil HTTP/1.1\r\nHost: x\r\n\r\n"

    /// Runs `body`, and sees to it that no connection was made.
    private func withUntouchedServer(
        _ configuration: HTTPClient.Configuration = .init(), _ body: (HTTPClient, RawServer) async throws -> Void
    ) async throws {
        try await withServer([.readHead, .send("HTTP/1.1 204 No Content\r\n\r\n"), .loop]) { server in
            try await withClient(configuration) { client, _ in try await body(client, server) }
            #expect(server.connections.isEmpty)
            // What would have been made before this one would have been seen by the time it is answered.
            try await withClient { client, _ in
                let status = try await client.get(server.url("/good")).status
                #expect(status == .noContent)
            }
            #expect(server.connections.count == 1)
            #expect(server.heads.count == 1)
        }
    }

    private func refuse(
        _ code: HTTPClientError.Code, _ what: String, _ request: () async throws -> Void
    ) async {
        let (error, _) = await failure(request)
        #expect(error?.code == code, "\(what): \(String(describing: error))")
        #expect(error?.requestDisposition == .notSent, "\(what)")
    }

    /// `HTTPField` makes spaces of line breaks and NUL, as ``lineBreaksInAValueArriveAsSpaces`` shows; the others it
    /// keeps.
    private static func field(_ name: String, _ byte: UInt8) throws -> HTTPField {
        HTTPField(name: try #require(HTTPField.Name(name)), lenientValue: [UInt8(ascii: "a"), byte, UInt8(ascii: "b")])
    }

    @Test func controlCharactersInAFieldsValueAreRefused() async throws {
        let bytes: [UInt8] = [0x01, 0x07, 0x08, 0x0B, 0x0C, 0x0E, 0x1B, 0x1F, 0x7F]
        try await withUntouchedServer { client, server in
            for name in Self.names {
                for byte in bytes {
                    let field = try Self.field(name, byte)
                    var fields = HTTPFields()
                    fields.append(field)
                    let sent = fields
                    await refuse(.invalidRequest, "\(name) with \(byte)") {
                        _ = try await client.get(server.url(), headers: sent)
                    }
                }
            }
        }
    }

    @Test(arguments: names) func controlCharactersOfAMiddlewareAreRefused(_ name: String) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.middlewares = [Adding(field: try Self.field(name, 0x1B))]
        try await withUntouchedServer(configuration) { client, server in
            await refuse(.invalidRequest, name) { _ = try await client.get(server.url()) }
        }
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\u{0}b", "a\u{1}b", "a\u{1B}b", "a\u{7F}"])
    func controlCharactersInTheClientsOwnTextsAreRefused(_ text: String) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.userAgent = text
        try await withUntouchedServer(configuration) { client, server in
            await refuse(.invalidRequest, "the client's User-Agent") { _ = try await client.get(server.url()) }
        }
        try await withUntouchedServer { client, server in
            await refuse(.invalidRequest, "a body's Content-Type") {
                _ = try await client.post(server.url(), body: .bytes([], contentType: text))
            }
            for name in Self.names {
                await refuse(.invalidRequest, "\(name) from text") {
                    _ = try await client.get(server.url(), headers: HTTPFields(checking: [(name, text)]))
                }
            }
            for name in ["X\r\nX-Evil", "X\u{0}", "X\u{1}", "X Y", "X:"] {
                await refuse(.invalidRequest, "a field's name") {
                    _ = try await client.get(server.url(), headers: HTTPFields(checking: [(name, "a")]))
                }
            }
        }
    }

    @Test(arguments: ["\r\nX-Evil: 1", "\n", "\r", "\u{0}", "\u{1}", "\t", "\u{1B}", "\u{7F}", " "])
    func controlCharactersInAURLAreRefused(_ text: String) async throws {
        try await withUntouchedServer { client, server in
            let authority = "127.0.0.1:\(server.port)"
            let urls = [
                "http://\(authority)/a\(text)b", "http://\(authority)/\(text)", "http://\(authority)\(text)/",
                "http://127.0.0.1\(text):\(server.port)/", "http://\(authority)/?a\(text)b",
                "http://\(authority)/#\(text)", "\(text)http://\(authority)/", "http\(text)://\(authority)/",
            ]
            for url in urls {
                await refuse(.invalidURL, "\(Array(url.utf8))") { _ = try await client.get(url) }
            }
        }
    }

    /// The parts of a request are anybody's to set after its URL has been read.
    @Test func controlCharactersInARequestsPartsAreRefused() async throws {
        try await withUntouchedServer { client, server in
            for text in ["\r\nX-Evil: 1", "a\u{0}b", "a\u{1}b", "a\u{7F}b"] {
                var path = try HTTPRequest(parsing: server.url())
                path.path = "/a\(text)"
                var authority = try HTTPRequest(parsing: server.url())
                authority.authority = "127.0.0.1:\(server.port)\(text)"
                for request in [path, authority] {
                    await refuse(.invalidURL, "\(request)") { _ = try await client.execute(request) }
                }
            }
        }
    }

    @Test(arguments: [
        "", "GET\r\nX-Evil: 1", "GET / HTTP/1.1\r\n", "G\nET", "G\rET", "GET\u{0}", "G\u{1}", "G ET", "GET\u{7F}",
    ])
    func aMethodWithControlCharactersCannotBeMade(_ name: String) {
        #expect(HTTPRequest.Method(name) == nil)
        #expect(HTTPRequest.Method(rawValue: name) == nil)
    }

    /// By then nobody can tell that there was one; but it is one field, in one request.
    @Test(arguments: names) func lineBreaksInAValueArriveAsSpaces(_ name: String) async throws {
        let fieldName = try #require(HTTPField.Name(name))
        let values = [Self.smuggling, "a\nX-Evil: 1", "a\rX-Evil: 1", "a\u{0}X-Evil: 1", "\r\nX-Evil: 1"]
        try await withServer([.readHead, .send("HTTP/1.1 204 No Content\r\n\r\n"), .loop]) { server in
            try await withClient { client, _ in
                for value in values {
                    for field in [
                        HTTPField(name: fieldName, value: value),
                        HTTPField(name: fieldName, lenientValue: Array(value.utf8)),
                    ] {
                        var fields = HTTPFields()
                        fields.append(field)
                        let sent = fields
                        let status = try await client.get(server.url("/good"), headers: sent).status
                        #expect(status == .noContent)
                    }
                }
            }
            let heads = server.heads
            #expect(heads.count == 2 * values.count)
            for head in heads {
                #expect(head.hasPrefix("GET /good HTTP/1.1\r\n"))
                // No line but those that end in CR LF, and in none of them another control character.
                let lines = head.split(separator: "\r\n")
                for line in lines {
                    #expect(line.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "\(line)")
                    #expect(!line.lowercased().hasPrefix("x-evil"), "\(line)")
                }
                let carrying = lines.filter { $0.hasPrefix("\(name):") && $0.contains("X-Evil: 1") }
                #expect(carrying.count == 1, "\(head)")
            }
        }
    }
}
