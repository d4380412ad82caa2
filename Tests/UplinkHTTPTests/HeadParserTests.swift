// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct HeadParserTests {
    /// Feeds lines and returns the last event.
    private func parse(
        _ lines: String..., method: HTTPRequest.Method = .get, limits: HTTPLimits = .init()
    ) throws -> HeadParser.Event {
        var parser = HeadParser(method: method, limits: limits)
        var event = HeadParser.Event.more
        for line in lines { event = try parser.take(line: Array("\(line)\r\n".utf8)) }
        return event
    }

    private func framing(_ lines: String..., status: Int = 200, method: HTTPRequest.Method = .get) throws -> Framing? {
        var parser = HeadParser(method: method, limits: .init())
        for line in ["HTTP/1.1 \(status) X"] + lines { _ = try parser.take(line: Array("\(line)\r\n".utf8)) }
        guard case .final(let head) = try parser.take(line: Array("\r\n".utf8)) else { return nil }
        return head.framing
    }

    @Test func aHeadIsDoneAtItsEmptyLine() throws {
        #expect(try parse("HTTP/1.1 200 OK", "A: b") == .more)
        guard case .final(let head) = try parse("HTTP/1.1 200 Fine thing", "A:  b\t", "a: c", "") else {
            Issue.record("not final")
            return
        }
        #expect(head.response.status == .init(code: 200))
        #expect(head.response.status.reasonPhrase == "Fine thing")
        #expect(head.response.headerFields[values: HTTPField.Name("A")!] == ["b", "c"])
    }

    @Test func interimFieldsAreForgotten() throws {
        guard case .final(let head) = try parse("HTTP/1.1 103 E", "A: b", "", "HTTP/1.1 200", "") else {
            Issue.record("not final")
            return
        }
        #expect(head.response.headerFields.isEmpty)
    }

    @Test func framingFollowsTheRules() throws {
        #expect(try framing("Content-Length: 5")?.kind == .length(5))
        #expect(try framing("Content-Length: 5", method: .head)?.kind == HTTPBody.Framing.none)
        #expect(try framing("Content-Length: 5", method: .head)?.contentLength == 5)
        #expect(try framing("Content-Length: 5", status: 304)?.kind == HTTPBody.Framing.none)
        #expect(try framing(status: 204)?.kind == HTTPBody.Framing.none)
        #expect(try framing("Transfer-Encoding: Chunked")?.kind == .chunked)
        #expect(try framing()?.kind == .untilClose)
    }

    @Test(arguments: [
        "Content-Length: ", "Content-Length: 1 2", "Content-Length: +1", "Content-Length: 0x1", "Content-Length: 1,2",
        "Content-Length: 9223372036854775808", "Transfer-Encoding: identity", "Transfer-Encoding:",
        "Transfer-Encoding: chunked, chunked",
        "No colon", ": empty name", " A: folded", "A : b", "A\u{0}: b", "A: b\u{0}c",
    ])
    func badFieldsAreRefused(_ line: String) throws {
        let error = #expect(throws: HTTPClientError.self) { try framing(line) }
        #expect(error?.code == .invalidFraming || error?.code == .invalidResponse)
    }

    @Test func chunksBelongToHTTP11() {
        #expect(throws: HTTPClientError.self) { try parse("HTTP/1.0 200 OK", "Transfer-Encoding: chunked", "") }
    }

    @Test func limitsHold() {
        var limits = HTTPLimits()
        limits.headerFields = 2
        #expect(throws: HTTPClientError.self) { try parse("HTTP/1.1 200 OK", "A: 1", "B: 2", "C: 3", limits: limits) }
        limits = HTTPLimits()
        limits.headerBytes = 30
        #expect(throws: HTTPClientError.self) { try parse("HTTP/1.1 200 OK", "A: 12345678901", limits: limits) }
        limits = HTTPLimits()
        limits.interimResponses = 1
        let error = #expect(throws: HTTPClientError.self) {
            try parse("HTTP/1.1 100 C", "", "HTTP/1.1 100 C", "", limits: limits)
        }
        #expect(error?.code == .tooManyInterimResponses)
    }

    @Test func theParserTakesAnyBytesWithoutATrap() {
        for _ in 0..<20_000 {
            var parser = HeadParser(method: .get, limits: .init())
            if Bool.random() { _ = try? parser.take(line: Array("HTTP/1.1 200 OK".utf8)) }
            for _ in 0..<3 {
                let bytes = (0..<Int.random(in: 0...12)).map { _ in
                    Bool.random() ? UInt8.random(in: 0...255) : Array(" :\r\n\tHTP/1.0a9".utf8).randomElement() ?? 0
                }
                _ = try? parser.take(line: bytes)
            }
        }
    }
}
