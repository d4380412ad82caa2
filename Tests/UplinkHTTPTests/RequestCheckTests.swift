// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import UplinkHTTP

/// A transport that must not be asked.
private struct Untouched: HTTPTransport {
    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        Issue.record("a request went out: \(request)")
        return HTTPTransportResponse(head: HTTPResponse(status: .ok), body: HTTPBody([]))
    }
}

@Suite(.timeLimit(.minutes(1)))
struct RequestCheckTests {
    private func code(
        _ configuration: HTTPClient.Configuration = .init(), _ request: (HTTPClient) async throws -> Void
    ) async -> HTTPClientError.Code? {
        let client = HTTPClient(transport: Untouched(), configuration: configuration)
        return await #expect(throws: HTTPClientError.self) { try await request(client) }?.code
    }

    @Test func connectIsRefused() async {
        let code = await code { _ = try await $0.execute(HTTPRequest(parsing: "http://a/", method: .connect)) }
        #expect(code == .invalidRequest)
    }

    @Test(arguments: [HTTPRequest.Method.trace, .head]) func someMethodsHaveNoBody(_ method: HTTPRequest.Method) async {
        let code = await code {
            _ = try await $0.execute(HTTPRequest(parsing: "http://a/", method: method), body: .bytes([]))
        }
        #expect(code == .invalidRequest)
    }

    @Test func aContentTypeWithALineBreakIsRefused() async {
        let code = await code {
            let request = try HTTPRequest(parsing: "http://a/", method: .post)
            _ = try await $0.execute(request, body: .bytes([], contentType: "a/b\r\nX: y"))
        }
        #expect(code == .invalidRequest)
    }

    @Test func aNegativeLengthIsRefused() async {
        let code = await code {
            let pieces = AsyncStream<[UInt8]> { $0.finish() }
            let request = try HTTPRequest(parsing: "http://a/", method: .post)
            _ = try await $0.execute(request, body: .stream(pieces, length: -1))
        }
        #expect(code == .invalidRequest)
    }

    @Test(arguments: [
        "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "m-search", "A!#$%&'*+.^_`|~1",
    ])
    func everyOtherTokenIsAMethod(_ name: String) throws {
        let method = try #require(HTTPRequest.Method(rawValue: name))
        try RequestCheck.check(method, [:], .none)
    }

    @Test func idempotenceIsThatOfTheSpecification() {
        let methods: [HTTPRequest.Method] = [.get, .head, .options, .trace, .put, .delete, .post, .patch]
        #expect(methods.map(\.isIdempotent) == [true, true, true, true, true, true, false, false])
        #expect(HTTPRequest.Method("PROPFIND")?.isIdempotent == false)
    }

    @Test(arguments: ["Host", "content-length", "Transfer-Encoding", "Connection", "Expect", "TE", "Upgrade"])
    func theTransportsOwnFieldsAreRefused(_ name: String) async throws {
        let field = try #require(HTTPField.Name(name))
        let code = await code { _ = try await $0.get("http://a/", headers: [field: "x"]) }
        #expect(code == .invalidRequest)
    }

    @Test func aUserAgentWithALineBreakIsRefused() async {
        var configuration = HTTPClient.Configuration()
        configuration.userAgent = "a\r\nX: y"
        let code = await code(configuration) { _ = try await $0.get("http://a/") }
        #expect(code == .invalidRequest)
    }

    /// Fields are worked out once for all requests that bring none of their own.
    @Test(arguments: [nil, "me"] as [String?], [true, false])
    func aRequestWithoutFieldsHasTheUsualOnes(
        _ userAgent: String?, _ decodes: Bool
    ) throws {
        var configuration = HTTPClient.Configuration()
        (configuration.userAgent, configuration.decodesContent) = (userAgent, decodes)
        let call = HTTPCall(.init(), ClientSettings(configuration))
        let bare = try RedirectMachine(RequestHead(HTTPRequest(parsing: "http://a/")), of: call)
        let other = try #require(HTTPField.Name("X-A"))
        let request = try HTTPRequest(parsing: "http://a/", headerFields: [other: "b"])
        let full = try RedirectMachine(RequestHead(request), of: call)
        var expected: HTTPFields = [other: "b"]
        expected.append(contentsOf: bare.request.headerFields)
        #expect(Array(full.request.headerFields) == Array(expected))
        #expect(bare.request.headerFields[.userAgent] == userAgent)
        #expect(full.decodesContent == decodes && bare.decodesContent == decodes)
        let typed = try RedirectMachine(
            RequestHead(HTTPRequest(parsing: "http://a/", method: .post)), body: .text("x", contentType: "a/b"),
            of: call)
        #expect(typed.request.headerFields[.contentType] == "a/b")
        #expect(typed.request.headerFields[.userAgent] == userAgent)
    }

    @Test func httpIsRefusedWhereHTTPSIsRequired() async {
        var configuration = HTTPClient.Configuration()
        configuration.requiresHTTPS = true
        let code = await code(configuration) { _ = try await $0.get("http://a/") }
        #expect(code == .invalidURL)
    }

    @Test func senselessSettingsAreRefused() async {
        var configuration = HTTPClient.Configuration()
        configuration.limits.headerBytes = 0
        #expect(await code(configuration) { _ = try await $0.get("http://a/") } == .invalidConfiguration)
        configuration = .init()
        configuration.limits.headerFields = 65_535  // one more than `HTTPFields` takes without a trap
        #expect(await code(configuration) { _ = try await $0.get("http://a/") } == .invalidConfiguration)
        configuration = .init()
        configuration.maximumRedirects = -1
        #expect(await code(configuration) { _ = try await $0.get("http://a/") } == .invalidConfiguration)
        let negative = HTTPTimeouts(total: .nanoseconds(-1))
        #expect(await code { _ = try await $0.get("http://a/", timeouts: negative) } == .invalidConfiguration)
        configuration = .init()
        configuration.timeouts = negative
        #expect(await code(configuration) { _ = try await $0.get("http://a/") } == .invalidConfiguration)
        // A call with timeouts of its own does not mind the configuration's.
        configuration.requiresHTTPS = true
        #expect(await code(configuration) { _ = try await $0.get("http://a/", timeouts: .init()) } == .invalidURL)
    }
}
