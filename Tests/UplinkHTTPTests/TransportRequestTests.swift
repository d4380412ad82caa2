// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import UplinkHTTP

/// What transports are given and bring, where it says the same in two ways.
@Suite(.timeLimit(.minutes(1))) struct TransportRequestTests {
    private func request(_ url: String) throws -> HTTPTransportRequest {
        HTTPTransportRequest(
            .put, try HTTPURLParser.parse(url), RequestFields([.accept: "*/*"]), body: .text("x"), timeouts: .init(),
            limits: .init(), isIdempotent: nil)
    }

    @Test(arguments: ["http://a/", "https://b:81/c?d=%20", "http://[::1]:80"])
    func theHeadIsTheOneOfItsURL(_ url: String) throws {
        let request = try request(url)
        let head = try HTTPRequest(parsing: url, method: .put, headerFields: [.accept: "*/*"])
        #expect(request.head == head)
        #expect(request.method == head.method && request.headerFields == head.headerFields)
        #expect(try request.checkedURL() == head.checkedURL())
        #expect(try request.url == head.checkedURL().text)
    }

    @Test func whoChangesTheHeadChangesAllThatItSays() throws {
        let old = try request("http://a/")
        var new = old
        new.head.method = .delete
        new.head.path = "/b"
        new.head.headerFields[.accept] = nil
        #expect(new.method == .delete && new.headerFields.isEmpty)
        #expect(try new.checkedURL().text == "http://a/b")
        #expect(new.url == "http://a/b")
        #expect(new.body.length == 1 && new.limits == old.limits && new.timeouts == old.timeouts)
        new.head.authority = nil
        #expect(throws: HTTPClientError.self) { try new.checkedURL() }
        #expect(try old.method == .put && old.headerFields.count == 1 && old.checkedURL().text == "http://a/")
    }

    @Test func aChangeIsNoneOfTheCopies() throws {
        let old = try request("http://a/")
        var new = old
        (new.body, new.isIdempotent, new.timeouts.total, new.limits.headerBytes) = (.none, true, .seconds(1), 7)
        new.observer = { _ in }
        #expect(new.body.isNone && new.isIdempotent == true && new.timeouts.total == .seconds(1))
        #expect(new.limits.headerBytes == 7 && new.observer != nil)
        #expect(old.body.length == 1 && old.isIdempotent == nil && old.timeouts == .init())
        #expect(old.limits == .init() && old.observer == nil)
        #expect(try new.checkedURL() == old.checkedURL())
    }

    @Test func timeoutsAreEqualByWhatTheySayAndPrintIt() {
        var (one, other) = (HTTPTimeouts(total: .seconds(7)), HTTPTimeouts())
        #expect(one != other)
        other.total = .seconds(7)
        #expect(one == other && Set([one, other]).count == 1)
        one.stall = nil
        #expect(one != other && other.stall == .seconds(30))
        #expect("\(other)".contains("7.0 seconds"))
    }

    @Test func onlyAHeadThatWasReadIsKnownToNameNoCoding() throws {
        func response(_ fields: HTTPFields) throws -> HTTPTransportResponse {
            let framing = try Framing(of: fields, status: 200, method: .get, isHTTP10: false)
            let head = ReceivedHead(.ok, fields, framing)
            return HTTPTransportResponse(head, source: KeptBody(HTTPBody.Chunk([]), trailerFields: nil))
        }
        #expect(try !response([.contentEncoding: "gzip"]).isPlain)
        var plain = try response([.contentLength: "0"])
        #expect(plain.isPlain)
        plain.head.headerFields[.contentEncoding] = "gzip"
        #expect(!plain.isPlain)
        #expect(!HTTPTransportResponse(head: HTTPResponse(status: .ok), body: HTTPBody([])).isPlain)
    }
}
