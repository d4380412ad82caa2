// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// Answers of one server whose heads are alike: each is read as it came, whatever came before.
@Suite(.timeLimit(.minutes(1)))
struct RepeatedHeadTests {
    /// An answer with these fields, and what comes around it.
    private struct Reply {
        var fields: [String]
        var isInterimFirst = false
        var trailers: [String]?

        init(_ fields: String..., interim: Bool = false, trailers: [String]? = nil) {
            (self.fields, isInterimFirst, self.trailers) = (fields, interim, trailers)
        }

        var allFields: [String] { fields + [trailers == nil ? "Content-Length: 2" : "Transfer-Encoding: chunked"] }

        func text(toHead: Bool) -> String {
            var text = isInterimFirst ? "HTTP/1.1 103 Early Hints\r\nA: 1\r\n\r\n" : ""
            text += "HTTP/1.1 200 OK\r\n"
            for field in allFields { text += "\(field)\r\n" }
            text += "\r\n"
            if toHead { return text }
            guard let trailers else { return "\(text)ok" }
            text += "2\r\nok\r\n0\r\n"
            for field in trailers { text += "\(field)\r\n" }
            return "\(text)\r\n"
        }
    }

    private static let replies = [
        Reply("A: 1", "B: 2"), Reply("A: 1", "B: 2"), Reply("A: 1", "B: 3"), Reply("A: 1", "B: 3"), Reply("A: 1"),
        Reply("A: 1"), Reply("A: 1", "B: 3"), Reply("A: 1", "B: 3", "C: 4"), Reply("A: 1", "B: 3"), Reply("B: 3"),
        Reply("A: 1", "B: 3"), Reply("A: 1", "B: 3", interim: true), Reply("A: 1", "B: 3", interim: true),
        Reply("A: 1", "B: 4", interim: true), Reply("A: 1", "B: 4", trailers: ["A: 1", "B: 4"]),
        Reply("A: 1", "B: 4", trailers: ["A: 1", "B: 5"]), Reply("A: 1", "B: 4", trailers: []), Reply("A: 1", "B: 4"),
        Reply("a: 1", "B: 4"), Reply("A: 1 ", "B: 4"), Reply(), Reply(), Reply("A: 1", "A: 1"), Reply("A: 1"),
    ]

    private func texts(_ fields: HTTPFields?) -> [String] {
        (fields ?? [:]).map { "\($0.name.rawName): \($0.value)" }
    }

    @Test(arguments: [HTTPRequest.Method.get, .head])
    func everyHeadIsReadAsItCame(_ method: HTTPRequest.Method) async throws {
        let answering = RawServer.Step.answer { head in
            let number = head.split(separator: " ")[1].dropFirst()
            return [.send(Self.replies[Int(number) ?? 0].text(toHead: head.hasPrefix("HEAD ")))]
        }
        try await withServer([answering, .loop]) { server in
            try await withClient { client, _ in
                for (number, reply) in Self.replies.enumerated() {
                    let request = try HTTPRequest(parsing: server.url("/\(number)"), method: method)
                    let response = try await client.execute(request)
                    let expected = reply.allFields.map { $0 == "A: 1 " ? "A: 1" : $0 }
                    #expect(texts(response.headerFields) == expected, "\(number)")
                    let body = try await response.body.collect(upTo: 2)
                    #expect(body == (method == .head ? [] : Array("ok".utf8)), "\(number)")
                    let trailers = method == .head ? [] : reply.trailers ?? []
                    #expect(texts(response.body.trailerFields) == trailers, "\(number)")
                }
            }
            #expect(server.connections.count == 1)
        }
    }

    /// The head of an answer to HEAD has no body behind it, and the same head to GET has one.
    @Test func aHeadThatIsRepeatedToAnotherMethodHasItsOwnBody() async throws {
        let reply = Reply("A: 1")
        let answering = RawServer.Step.answer { head in [.send(reply.text(toHead: head.hasPrefix("HEAD ")))] }
        try await withServer([answering, .loop]) { server in
            try await withClient { client, _ in
                for method in [HTTPRequest.Method.get, .head, .head, .get, .get, .head] {
                    let response = try await client.execute(try HTTPRequest(parsing: server.url(), method: method))
                    #expect(texts(response.headerFields) == reply.allFields)
                    #expect(response.body.contentLength == 2)
                    #expect(response.body.framing == (method == .head ? HTTPBody.Framing.none : .length(2)))
                    #expect(try await response.body.collect(upTo: 2) == (method == .head ? [] : Array("ok".utf8)))
                }
            }
            #expect(server.connections.count == 1)
        }
    }
}
