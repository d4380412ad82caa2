// SPDX-License-Identifier: Apache-2.0
import Dispatch
import HTTPTypes
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

/// Notes when a request goes in and when its answer comes out.
private struct Tracer: HTTPMiddleware {
    let name: String
    let notes: Notes<String>

    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        notes.add("\(name)> \(request.head.path ?? "") \(request.attempt)")
        do {
            let response = try await next(request)
            notes.add("\(name)< \(response.head.status.code)")
            return response
        } catch {
            notes.add("\(name)! ")
            throw error
        }
    }
}

/// Adds a field.
private struct Adding: HTTPMiddleware {
    let name: HTTPField.Name
    let value: String

    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        var request = request
        request.head.headerFields.append(HTTPField(name: name, value: value))
        return try await next(request)
    }
}

/// Sets a timeout.
private struct Stalling: HTTPMiddleware {
    let stall: Duration

    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        var request = request
        request.timeouts.stall = stall
        return try await next(request)
    }
}

/// Answers by itself.
private struct Answering: HTTPMiddleware {
    let status: HTTPResponse.Status

    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        HTTPTransportResponse(head: HTTPResponse(status: status), body: HTTPBody([1, 2, 3]))
    }
}

/// Answers with a body that is pulled, and notes on which threads it does so.
private struct Located: HTTPMiddleware {
    /// On Linux the main queue may run on any thread.
    static let mark = DispatchSpecificKey<Bool>()
    static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: mark) == true }

    let places: Notes<Bool>

    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        places.add(Self.isOnMainQueue)
        let rest = Locked([[1], [2, 3]] as [[UInt8]])
        let body = HTTPBody(pulling: {
            places.add(Self.isOnMainQueue)
            return rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        })
        return HTTPTransportResponse(head: HTTPResponse(status: .ok), body: body)
    }
}

/// Sets a body.
private struct Carrying: HTTPMiddleware {
    let body: HTTPRequestBody

    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        var request = request
        request.body = body
        return try await next(request)
    }
}

/// Asks without TLS.
private struct Downgrading: HTTPMiddleware {
    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        var request = request
        request.head.scheme = "http"
        return try await next(request)
    }
}

/// Asks for another path.
private struct Leading: HTTPMiddleware {
    let path: String

    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        var request = request
        request.head.path = path
        return try await next(request)
    }
}

private struct OwnError: Error {}

/// Fails by itself.
private struct Failing: HTTPMiddleware {
    var error: any Error = OwnError()

    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        throw error
    }
}

@Suite(.timeLimit(.minutes(1)))
struct MiddlewareTests {
    /// A middleware that sets a field.
    private struct Setting: HTTPMiddleware {
        let name: HTTPField.Name
        let value: String

        func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
            var request = request
            request.head.headerFields[name] = value
            return try await next(request)
        }
    }

    @Test(arguments: [(HTTPField.Name.acceptEncoding, "br"), (.range, "bytes=0-")])
    func codingsThatAMiddlewareAsksForAreNotUndone(_ name: HTTPField.Name, _ value: String) async throws {
        let transport = StubTransport()
        transport.respond { _ in .response(.ok, headers: [.contentEncoding: "br"], pieces: [[1, 2]]) }
        let client = HTTPClient(transport, Setting(name: name, value: value))
        #expect(try await client.get("https://a.example/").body.collect(upTo: 9) == [1, 2])
    }

    private let transport = StubTransport()
    private let notes = Notes<String>()
    private let url = "http://a.example/"

    @Test func theFirstIsTheOutermostAndEachRedirectPasses() async throws {
        transport.answer(url, .redirect(to: "/b"))
        transport.answer("\(url)b", .text("b"))
        let client = HTTPClient(transport, Tracer(name: "1", notes: notes), Tracer(name: "2", notes: notes))
        #expect(try await client.get(url).status == .ok)
        #expect(notes.all == ["1> / 1", "2> / 1", "2< 302", "1< 302", "1> /b 1", "2> /b 1", "2< 200", "1< 200"])
    }

    @Test @MainActor func whatOthersDoForACallRunsOnNoActorOfItsCallers() async throws {
        DispatchQueue.main.setSpecific(key: Located.mark, value: true)
        defer { DispatchQueue.main.setSpecific(key: Located.mark, value: nil) }
        let places = Notes<Bool>()
        #expect(Located.isOnMainQueue)
        let response = try await HTTPClient(transport, Located(places: places)).get(url)
        #expect(Located.isOnMainQueue)
        #expect(try await response.body.collect(upTo: 3) == [1, 2, 3])
        #expect(Located.isOnMainQueue)
        #expect(places.all == [false, false, false, false])
    }

    @Test func insideOfARetryEachAttemptIsSeenOutsideOne() async throws {
        transport.answerOnce(nil, url, .error(.notSent), .text("a"))
        var policy = HTTPRetryPolicy()
        policy.initialPause = .zero
        let client = HTTPClient(
            transport, Tracer(name: "out", notes: notes), .retry(policy), Tracer(name: "in", notes: notes))
        #expect(try await client.get(url).status == .ok)
        #expect(notes.all == ["out> / 1", "in> / 1", "in! ", "in> / 2", "in< 200", "out< 200"])
    }

    @Test func whatAMiddlewareAddsIsSentAndChecked() async throws {
        transport.answer(url, .text("a"))
        let name = HTTPField.Name("X-A")!
        _ = try await HTTPClient(transport, Adding(name: name, value: "1")).get(url)
        #expect(transport.requests.first?.head.headerFields[name] == "1")
        let error = await clientError {
            _ = try await HTTPClient(transport, Adding(name: .connection, value: "close")).get(url)
        }
        #expect(error?.code == .invalidRequest)
        #expect(transport.requests.count == 1)
    }

    @Test func timeoutsThatAMiddlewareSetsAreChecked() async throws {
        transport.answer(url, .text("a"))
        _ = try await HTTPClient(transport, Stalling(stall: .seconds(7))).get(url)
        #expect(transport.requests.map(\.timeouts.stall) == [.seconds(7)])
        let error = await clientError {
            _ = try await HTTPClient(transport, Stalling(stall: .nanoseconds(-1))).get(url)
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("`stall`") == true)
        #expect(transport.requests.count == 1)
    }

    @Test func aMiddlewareAddsItsFieldsToEachRequestOfARedirect() async throws {
        transport.answer(url, .redirect(to: "http://b.example/"))
        transport.answer("http://b.example/", .text("b"))
        let name = HTTPField.Name("X-A")!
        _ = try await HTTPClient(transport, Adding(name: name, value: "1")).get(url, headers: [.accept: "x"])
        #expect(transport.requests.map { $0.head.headerFields[values: name] } == [["1"], ["1"]])
        #expect(transport.requests.map { $0.head.headerFields[.accept] } == ["x", "x"])
    }

    /// A server that sets a cookie often sends its client to the same URL once more.
    @Test func withAMiddlewareTheSameRequestMayBeAnotherOne() async throws {
        transport.answerOnce(nil, url, .redirect(to: url), .text("in"))
        let client = HTTPClient(transport, Adding(name: HTTPField.Name("X-A")!, value: "1"))
        #expect(try await client.get(url).collected(upTo: 9).body == Array("in".utf8))
    }

    @Test func aMiddlewareMayAnswerByItself() async throws {
        let events = HTTPEvents()
        let response = try await HTTPClient(transport, Answering(status: .accepted)).get(
            url, options: .init(events: events))
        #expect(response.status == .accepted)
        #expect(try await response.body.collect(upTo: 3) == [1, 2, 3])
        #expect(transport.requests.isEmpty)
        #expect(await events.kinds() == ["finished"])
    }

    @Test func aMiddlewaresErrorComesThroughUnchanged() async throws {
        let events = HTTPEvents()
        await #expect(throws: OwnError.self) {
            _ = try await HTTPClient(transport, .retry(), Failing()).get(url, options: .init(events: events))
        }
        #expect(await events.kinds() == ["failed"])
    }

    @Test(arguments: ["https://login.example/", ""])
    func anErrorOfAMiddlewaresOwnRequestKeepsItsURL(_ other: String) async throws {
        var error = HTTPClientError.notSent
        error.url = other
        let client = HTTPClient(transport, Failing(error: error))
        let thrown = await clientError { _ = try await client.get(url) }
        #expect(thrown?.url == (other.isEmpty ? url : other))
    }

    @Test func aMiddlewareCannotLeaveTLSWhereItIsRequired() async throws {
        transport.answer(url, .text("a"))
        var configuration = HTTPClient.Configuration()
        configuration.middlewares = [Downgrading()]
        let free = HTTPClient(transport: transport, configuration: configuration)
        #expect(try await free.get("https://a.example/").status == .ok)
        configuration.requiresHTTPS = true
        let bound = HTTPClient(transport: transport, configuration: configuration)
        let error = await clientError { _ = try await bound.get("https://a.example/") }
        #expect(error?.code == .invalidURL)
        #expect(transport.requests.count == 1)
    }

    @Test func aURLThatAMiddlewareMakesIsChecked() async throws {
        transport.answer("\(url)b", .text("b"))
        #expect(try await HTTPClient(transport, Leading(path: "/b")).get(url).status == .ok)
        let error = await clientError { _ = try await HTTPClient(transport, Leading(path: "no slash\u{1}")).get(url) }
        #expect(error?.code == .invalidURL)
        #expect(transport.requests.count == 1)
    }

    @Test func aBodyThatAMiddlewareSetsBringsItsContentType() async throws {
        transport.answer(url, .text("a"))
        let client = HTTPClient(transport, Carrying(body: .json(Array("{}".utf8))))
        _ = try await client.post(url, body: .none)
        _ = try await client.post(url, body: .text("old"))
        _ = try await client.post(url, body: .text("old"), headers: [.contentType: "text/csv"])
        _ = try await HTTPClient(transport, Carrying(body: .bytes([1]))).post(url, body: .text("old"))
        let types = transport.requests.map { $0.head.headerFields[.contentType] }
        #expect(types == ["application/json", "application/json", "text/csv", nil])
    }

    @Test func sensitiveFieldsOfARequestDoNotFollowARedirectToAnotherOrigin() async throws {
        transport.answer(url, .redirect(to: "http://b.example/"))
        transport.answer("http://b.example/", .text("b"))
        let name = HTTPField.Name("X-Key")!
        _ = try await HTTPClient(transport: transport).get(
            url, headers: [name: "k"], options: .init(sensitiveFields: [name]))
        #expect(transport.requests.map { $0.head.headerFields[name] } == ["k", nil])
    }
}
