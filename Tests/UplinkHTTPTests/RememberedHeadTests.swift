// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import UplinkHTTP

/// A head that is read beside an earlier one is read as it would be alone.
@Suite(.timeLimit(.minutes(1)))
struct RememberedHeadTests {
    private static let head = [
        "HTTP/1.1 200 OK", "Server: nginx", "Content-Type: text/plain", "Content-Length: 5", "ETag: \"a\"", "",
    ]

    /// What a parser says to some lines, and what it knows at the end.
    private struct Reading: Equatable {
        var events: [HeadParser.Event] = []
        var failure: HTTPClientError.Code?
        var isHTTP10 = false
        var trailers = HTTPFields()
        /// Of which `==` asks the names of fields alone for their order.
        var fields: [HTTPField] = []

        init(
            _ lines: [String], method: HTTPRequest.Method = .get, limits: HTTPLimits = .init(),
            after earlier: RememberedHead = .none
        ) {
            var parser = HeadParser(method: method, limits: limits)
            do throws(HTTPClientError) {
                for line in lines {
                    let event = try parser.take(line: Array("\(line)\r\n".utf8), after: earlier)
                    if case .final(let head) = event { fields = Array(head.response.headerFields) }
                    events.append(event)
                }
            } catch {
                failure = error.code
            }
            (isHTTP10, trailers) = (parser.isHTTP10, parser.trailerFields)
        }
    }

    private func remembered(
        _ lines: [String], method: HTTPRequest.Method = .get, after earlier: RememberedHead = .none
    ) throws -> RememberedHead? {
        var parser = HeadParser(method: method, limits: .init())
        for line in lines { _ = try parser.take(line: Array("\(line)\r\n".utf8), after: earlier) }
        return parser.remembered
    }

    @Test func aHeadBesideAnotherIsReadAsAlone() throws {
        let earlier = try #require(try remembered(Self.head))
        let others = [
            "", "Server: nginy", "Server: nginx", "Content-Length: 7", "Transfer-Encoding: chunked", " folded: line",
            "no colon", "HTTP/1.0 200 OK", "HTTP/1.1 204 No Content", "HTTP/1.1 103 Early", "HTTP/1.1 101 Other",
            "X: y",
        ]
        var heads = [Self.head, Self.head + ["Trailer: a", ""], ["HTTP/1.1 100 Go on", ""] + Self.head]
        for place in Self.head.indices {
            heads.append(Array(Self.head[..<place]) + Array(Self.head[(place + 1)...]))
            for other in others {
                heads.append(Array(Self.head[..<place]) + [other] + Array(Self.head[place...]))
                heads.append(Array(Self.head[..<place]) + [other] + Array(Self.head[(place + 1)...]))
            }
        }
        var few = HTTPLimits()
        few.headerFields = 3
        var short = HTTPLimits()
        short.headerBytes = 60
        for lines in heads {
            #expect(Reading(lines, after: earlier) == Reading(lines), "\(lines)")
            #expect(Reading(lines, method: .head, after: earlier) == Reading(lines, method: .head), "\(lines)")
            for limits in [few, short] {
                #expect(Reading(lines, limits: limits, after: earlier) == Reading(lines, limits: limits), "\(lines)")
            }
        }
    }

    @Test func theSameHeadIsNotRememberedAnew() throws {
        let earlier = try #require(try remembered(Self.head))
        #expect(try remembered(Self.head, after: earlier) == nil)
        let other = try #require(try remembered(Self.head.dropLast() + ["X: y", ""], after: earlier))
        #expect(other.head.response.headerFields.count == earlier.head.response.headerFields.count + 1)
        #expect(try remembered(Self.head.dropLast() + ["X: y", ""], after: other) == nil)
    }

    @Test func ofAnotherMethodNothingIsTakenOver() throws {
        let earlier = try #require(try remembered(Self.head, method: .head))
        #expect(try remembered(Self.head, after: earlier)?.head.framing.kind == .length(5))
    }

    @Test func aLineWithoutItsEndIsNoBeginningOfAnother() throws {
        let earlier = try #require(try remembered(Self.head))
        var parser = HeadParser(method: .get, limits: .init())
        _ = try parser.take(line: Array("HTTP/1.1 200 OK\r\n".utf8), after: earlier)
        _ = try parser.take(line: Array("Server: ngi".utf8))
        guard case .final(let head) = try parser.take(line: Array("\r\n".utf8)) else {
            Issue.record("not final")
            return
        }
        #expect(head.response.headerFields[.server] == "ngi")
        #expect(parser.remembered == nil)
    }

    @Test func aLongHeadIsNotRemembered() throws {
        let value = String(repeating: "a", count: RememberedHead.maximumBytes)
        #expect(try remembered(["HTTP/1.1 200 OK", "A: \(value)", ""]) == nil)
    }
}
