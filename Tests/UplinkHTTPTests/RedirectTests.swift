// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkCore

@testable import UplinkHTTP

/// A transport that answers from a table of URLs and records what it was asked.
private final class Table: HTTPTransport {
    private let answers: [String: HTTPResponse]
    private let recorded = Locked<[HTTPTransportRequest]>([])

    init(_ answers: [String: HTTPResponse]) { self.answers = answers }

    var requests: [HTTPTransportRequest] { recorded.withLock { $0 } }
    var urls: [String] { requests.map { "\($0.head.scheme ?? "")://\($0.head.authority ?? "")\($0.head.path ?? "")" } }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        recorded.withLock { $0.append(request) }
        let url = "\(request.head.scheme ?? "")://\(request.head.authority ?? "")\(request.head.path ?? "")"
        return HTTPTransportResponse(head: answers[url] ?? HTTPResponse(status: .notFound), body: HTTPBody([]))
    }
}

/// Redirects once, with a body that holds something, and says whether that was gone when the next request came.
private final class Holding: HTTPTransport {
    private final class Held: Sendable {}
    private struct Weakly: Sendable { weak var held: Held? }

    private let first = Locked<Weakly?>(nil)
    private let isGone = Locked<Bool?>(nil)

    var wasGone: Bool? { isGone.withLock { $0 } }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        if let first = first.withLock({ $0 }) {
            isGone.withLock { $0 = first.held == nil }
            return HTTPTransportResponse(head: HTTPResponse(status: .ok), body: HTTPBody([]))
        }
        let held = Held()
        first.withLock { $0 = Weakly(held: held) }
        let body = HTTPBody(pulling: { withExtendedLifetime(held) { [1] } })
        return HTTPTransportResponse(head: redirect(302, "/b"), body: body)
    }
}

private func redirect(_ code: Int, _ location: String...) -> HTTPResponse {
    var fields = HTTPFields()
    for location in location { fields.append(HTTPField(name: .location, lenientValue: Array(location.utf8))) }
    return HTTPResponse(status: .init(code: code), headerFields: fields)
}

@Suite(.timeLimit(.minutes(1)))
struct RedirectTests {
    @Test(
        arguments: [301, 302, 303, 307, 308], [HTTPRequest.Method.get, .head, .post, .put, .patch, .delete])
    func methodsAndBodiesAreThoseOfTheSpecification(_ code: Int, _ method: HTTPRequest.Method) async throws {
        let table = Table(["http://a/": redirect(code, "/b?c"), "http://a/b?c": HTTPResponse(status: .ok)])
        let hasBody = method != .get && method != .head
        let fields: HTTPFields = [.contentLanguage: "en", .accept: "*/*"]
        let response = try await HTTPClient(transport: table).execute(
            HTTPRequest(parsing: "http://a/", method: method, headerFields: fields),
            body: hasBody ? .text("hello") : .none, options: .init(isIdempotent: false))
        #expect(response.status == .ok)
        #expect(response.url == "http://a/b?c")
        #expect(response.redirects == ["http://a/"])
        let becomesGet = code == 303 && method != .head || code < 303 && method == .post
        let next = try #require(table.requests.last)
        #expect(table.requests.map(\.head.method) == [method, becomesGet ? .get : method])
        #expect(try await next.body.collect(upTo: 9) == (hasBody && !becomesGet ? Array("hello".utf8) : []))
        #expect(next.head.headerFields[.contentType] == (hasBody && !becomesGet ? "text/plain; charset=utf-8" : nil))
        #expect(next.head.headerFields[.contentLanguage] == (becomesGet && method != .get ? nil : "en"))
        #expect(next.head.headerFields[.accept] == "*/*")
        #expect(next.isIdempotent == (becomesGet && method != .get ? nil : false))
    }

    /// RFC 9110, section 10.2.2. It is never sent.
    @Test(arguments: [("/b", "http://a/b#here"), ("/b#there", "http://a/b#there"), ("/b#", "http://a/b#")])
    func aTargetInheritsTheFragment(location: String, url: String) async throws {
        let table = Table(["http://a/": redirect(302, location), "http://a/b": HTTPResponse(status: .ok)])
        let response = try await HTTPClient(transport: table).get("http://a/#here")
        #expect(table.urls == ["http://a/", "http://a/b"])
        #expect(response.url == url)
        #expect(response.redirects == ["http://a/#here"])
    }

    @Test func whatDescribesTheBodyDoesNotGoOnWithoutIt() async throws {
        let about = ["digest", "repr-digest", "content-digest", "last-modified"].compactMap { HTTPField.Name($0) }
        var fields: HTTPFields = [.accept: "*/*"]
        for name in about { fields[name] = "x" }
        for (code, isKept) in [(303, false), (301, false), (307, true)] {
            let table = Table(["http://a/": redirect(code, "/b"), "http://a/b": HTTPResponse(status: .ok)])
            _ = try await HTTPClient(transport: table).post("http://a/", body: .text("hello"), headers: fields)
            let next = try #require(table.requests.last).head.headerFields
            for name in about { #expect(next.contains(name) == isKept, "\(code): \(name)") }
            #expect(next[.accept] == "*/*")
        }
    }

    @Test func aGetWithABodyLosesItWithSeeOther() async throws {
        let table = Table(["http://a/": redirect(303, "/b"), "http://a/b": HTTPResponse(status: .ok)])
        _ = try await HTTPClient(transport: table).execute(HTTPRequest(parsing: "http://a/"), body: .text("hello"))
        #expect(table.requests.last?.body.isNone == true)
        #expect(table.requests.last?.head.headerFields[.contentType] == nil)
    }

    @Test func theFieldsOwnContentTypeIsTheOneThatGoesOut() async throws {
        let table = Table(["http://a/": HTTPResponse(status: .ok)])
        let fields: HTTPFields = [.contentType: "text/csv"]
        let request = try HTTPRequest(parsing: "http://a/", method: .post, headerFields: fields)
        _ = try await HTTPClient(transport: table).execute(request, body: .text("a,b"))
        #expect(table.requests.last?.head.headerFields[values: .contentType] == ["text/csv"])
    }

    /// A form that answers a POST with the way to itself is the commonest redirect there is.
    @Test func aPostThatLeadsToAGetOfTheSameURLIsNoCircle() async throws {
        var machine = try RedirectMachine(
            RequestHead(HTTPRequest(parsing: "http://a/", method: .post)), body: .text("x"),
            of: HTTPCall(.init(), ClientSettings(.init())))
        #expect(try machine.received(redirect(303, "/")) == .follow)
        #expect(machine.request.method == .get)
        let error = #expect(throws: HTTPClientError.self) { try machine.received(redirect(302, "/")) }
        #expect(error?.code == .tooManyRedirects)
    }

    @Test(arguments: [307, 308]) func aBodyThatIsGoneEndsTheWay(_ code: Int) async throws {
        let pieces = AsyncStream<[UInt8]> { continuation in
            continuation.yield([1, 2, 3])
            continuation.finish()
        }
        let body = HTTPRequestBody.stream(pieces)
        var machine = try RedirectMachine(
            RequestHead(HTTPRequest(parsing: "http://a/", method: .post)), body: body,
            of: HTTPCall(.init(), ClientSettings(.init())))
        var unspent = machine
        #expect(try unspent.received(redirect(code, "/b")) == .follow)  // the server wanted nothing of it
        #expect(try await body.collect(upTo: 3) == [1, 2, 3])
        let error = #expect(throws: HTTPClientError.self) { try machine.received(redirect(code, "/b")) }
        #expect(error?.code == .bodyNotReplayable)
        #expect(error?.redirects == ["http://a/"])
    }

    @Test(arguments: [300, 304, 305, 306, 399]) func otherStatusesAreAnswers(_ code: Int) async throws {
        let response = try await HTTPClient(transport: Table(["http://a/": redirect(code, "/b")])).get("http://a/")
        #expect(response.status.code == code)
    }

    @Test func aRedirectWithoutATargetIsTheAnswer() async throws {
        let response = try await HTTPClient(transport: Table(["http://a/": redirect(302)])).get("http://a/")
        #expect(response.status == .found)
    }

    private let secrets: HTTPFields = [
        .authorization: "Bearer x", .cookie: "a=b", HTTPField.Name("X-Api-Key")!: "k", .accept: "*/*",
    ]

    @Test(arguments: ["http://b/", "http://a:81/", "https://a/"])
    func secretsDoNotFollowToAnotherOrigin(_ target: String) async throws {
        let table = Table(["http://a/": redirect(302, target), target: redirect(302, "http://a/back")])
        var configuration = HTTPClient.Configuration()
        configuration.sensitiveFields = [HTTPField.Name("X-Api-Key")!]
        configuration.allowsInsecureRedirects = true
        _ = try await HTTPClient(transport: table, configuration: configuration).get("http://a/", headers: secrets)
        #expect(table.requests.count == 3)
        #expect(table.requests[0].head.headerFields[.authorization] == "Bearer x")
        for request in table.requests.dropFirst() {
            #expect(request.head.headerFields[.authorization] == nil)
            #expect(request.head.headerFields[.cookie] == nil)
            #expect(request.head.headerFields[HTTPField.Name("X-Api-Key")!] == nil)
            #expect(request.head.headerFields[.accept] == "*/*")
        }
    }

    @Test func secretsStayWithinTheOrigin() async throws {
        let table = Table(["http://a/": redirect(302, "http://A:80/b"), "http://a/b": HTTPResponse(status: .ok)])
        _ = try await HTTPClient(transport: table).get("http://a/", headers: secrets)
        #expect(table.requests.last?.head.headerFields[.authorization] == "Bearer x")
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://b/", "gopher://b/", "data:,x", "javascript:alert(1)", "http://b:99999/",
        "http://[/", "http:\\\\evil/", "/\\evil/", "//a|b/",
    ])
    func forbiddenTargetsAreNotAsked(_ target: String) async throws {
        let table = Table(["http://a/?key=secret": redirect(302, target)])
        let error = await #expect(throws: HTTPClientError.self) {
            try await HTTPClient(transport: table).get("http://a/?key=secret")
        }
        #expect(error?.code == .redirectForbidden)
        #expect(error?.description.contains("secret") == false)
        #expect(error?.redirects.count == 1 && error?.redirects == error.map { [$0.url] })
        #expect(table.requests.count == 1)
    }

    @Test func aDowngradeIsRefusedUnlessAllowed() async throws {
        let table = Table(["https://a/": redirect(302, "http://a/"), "http://a/": HTTPResponse(status: .ok)])
        let error = await #expect(throws: HTTPClientError.self) {
            try await HTTPClient(transport: table).get("https://a/")
        }
        #expect(error?.code == .redirectForbidden)
        #expect(table.requests.count == 1)
        var configuration = HTTPClient.Configuration()
        configuration.allowsInsecureRedirects = true
        let response = try await HTTPClient(transport: table, configuration: configuration).get("https://a/")
        #expect(response.url == "http://a/")
    }

    @Test func circlesEnd() async throws {
        let table = Table(["http://a/": redirect(302, "/b"), "http://a/b": redirect(302, "/")])
        let error = await #expect(throws: HTTPClientError.self) {
            try await HTTPClient(transport: table).get("http://a/")
        }
        #expect(error?.code == .tooManyRedirects)
        #expect(error?.redirects == ["http://a/", "http://a/b"])
        #expect(table.requests.count == 2)
    }

    @Test(arguments: [10, 11]) func tenRedirectsAreFollowedAndElevenNot(_ count: Int) async throws {
        var answers = ["http://a/\(count)": HTTPResponse(status: .ok)]
        for number in 0..<count { answers["http://a/\(number)"] = redirect(301, "/\(number + 1)") }
        let table = Table(answers)
        let client = HTTPClient(transport: table)
        if count == 10 {
            #expect(try await client.get("http://a/0").redirects.count == 10)
        } else {
            let error = await #expect(throws: HTTPClientError.self) { try await client.get("http://a/0") }
            #expect(error?.code == .tooManyRedirects)
            #expect(error?.redirects.count == 11)
            #expect(table.requests.count == 11)
        }
    }

    @Test func twoTargetsAreRefusedAndOneTwiceIsNot() async throws {
        let table = Table([
            "http://a/1": redirect(302, "/x", "/y"), "http://a/2": redirect(302, "/x", "/x"),
            "http://a/x": HTTPResponse(status: .ok),
        ])
        let error = await #expect(throws: HTTPClientError.self) {
            try await HTTPClient(transport: table).get("http://a/1")
        }
        #expect(error?.code == .redirectForbidden)
        #expect(error?.redirects == ["http://a/1"])
        #expect(try await HTTPClient(transport: table).get("http://a/2").status == .ok)
    }

    @Test(arguments: [
        ("/list?page[size]=2", "http://a/list?page%5Bsize%5D=2"), ("/a|b{1}^`", "http://a/a%7Cb%7B1%7D%5E%60"),
        ("/p\"q<r>", "http://a/p%22q%3Cr%3E"), ("/100%", "http://a/100%25"), ("/%zz%2", "http://a/%25zz%252"),
        ("/%41", "http://a/%41"), ("http://[::1]/a[1]", "http://[::1]/a%5B1%5D"), ("//a/x:[1]", "http://a/x:%5B1%5D"),
        ("?x=[1]", "http://a/?x=%5B1%5D"),
    ])
    func charactersThatAreNoURLsAreEncoded(location: String, target: String) async throws {
        let table = Table(["http://a/": redirect(302, location), target: HTTPResponse(status: .ok)])
        #expect(try await HTTPClient(transport: table).get("http://a/").url == target)
    }

    /// Each reference is short.
    @Test func aURLThatGrowsWithEachRedirectHasALimit() async throws {
        let step = String(repeating: "a", count: 9000) + "/"
        let table = Table(["http://a/": redirect(302, step), "http://a/\(step)": redirect(302, step)])
        let error = await #expect(throws: HTTPClientError.self) {
            try await HTTPClient(transport: table).get("http://a/")
        }
        #expect(error?.code == .redirectForbidden)
        #expect(error?.message.contains("bytes long") == true)
    }

    @Test func bytesThatAreNoUTF8AreKept() async throws {
        var found = HTTPResponse(status: .found)
        found.headerFields.append(HTTPField(name: .location, lenientValue: Array("/caf".utf8) + [0xE9]))
        let table = Table(["http://a/": found, "http://a/caf%E9": HTTPResponse(status: .ok)])
        #expect(try await HTTPClient(transport: table).get("http://a/").url == "http://a/caf%E9")
    }

    @Test func rawSpacesAndLettersInTargetsAreEncoded() async throws {
        let table = Table(["http://a/": redirect(302, "/b ü"), "http://a/b%20%C3%BC": HTTPResponse(status: .ok)])
        #expect(try await HTTPClient(transport: table).get("http://a/").status == .ok)
    }

    @Test(arguments: [false, true])
    func theBodyOfARedirectIsGoneBeforeTheNextRequest(isObserved: Bool) async throws {
        let transport = Holding()
        var options = HTTPRequestOptions()
        if isObserved { options.observer = { _ in } }
        #expect(try await HTTPClient(transport: transport).get("http://a/", options: options).status == .ok)
        #expect(transport.wasGone == true)
    }

    @Test func zeroRedirectsMeanTheRedirectItself() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.maximumRedirects = 0
        let client = HTTPClient(transport: Table(["http://a/": redirect(302, "/b")]), configuration: configuration)
        #expect(try await client.get("http://a/").status == .found)
    }

    @Test func theTotalTimeoutShrinksFromHopToHop() async throws {
        let table = Table(["http://a/": redirect(302, "/b")])
        _ = try await HTTPClient(transport: table).get("http://a/", timeouts: HTTPTimeouts(total: .seconds(5)))
        let totals = table.requests.compactMap(\.timeouts.total)
        #expect(totals.count == 2)
        #expect(totals[1] < totals[0])
    }
}
