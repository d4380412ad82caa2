// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkHTTP

@testable import UplinkCurl

/// An answer, and what must become of it.
struct Answer: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let code: HTTPClientError.Code?

    init(_ name: String, _ text: String, _ code: HTTPClientError.Code?) {
        (self.name, self.text, self.code) = (name, text, code)
    }

    var testDescription: String { name }

    /// Gets the answer from a server that then closes the connection.
    func get(_ configuration: HTTPClient.Configuration = .init()) async throws -> [UInt8] {
        try await withServer([.readHead, .send(text)]) { server in
            try await withClient(configuration) { client, _ in
                try await client.get(server.url(), timeouts: HTTPTimeouts(total: .seconds(10))).body
                    .collect(upTo: 1 << 20)
            }
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct FramingTests {
    private static let head = "HTTP/1.1 200 OK\r\n"
    /// What becomes of a body that is no gzip: without the trait `Compression` nobody has asked for one.
    #if Compression
    private static let gzipFailure = HTTPClientError.Code.invalidEncoding
    #else
    private static let gzipFailure = HTTPClientError.Code.unsupportedEncoding
    #endif
    private static let chunked = "\(head)Transfer-Encoding: chunked\r\n\r\n"

    static let answers = [
        Answer("length, cut", "\(head)Content-Length: 100\r\n\r\nabc", .truncated),
        Answer("length, cut before the body", "\(head)Content-Length: 100\r\n\r\n", .truncated),
        Answer("no length", "\(head)\r\nabc", nil),
        Answer("equal lengths", "\(head)Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", nil),
        Answer("equal lengths in a list", "\(head)Content-Length: 3, 3\r\n\r\nabc", nil),
        Answer("different lengths", "\(head)Content-Length: 3\r\nContent-Length: 2\r\n\r\nabc", .invalidFraming),
        Answer("negative length", "\(head)Content-Length: -5\r\n\r\nabc", .invalidFraming),
        Answer("length with a letter", "\(head)Content-Length: 3x\r\n\r\nabc", .invalidFraming),
        Answer("length 10^22", "\(head)Content-Length: 10000000000000000000000\r\n\r\nabc", .invalidFraming),
        Answer("space before the colon", "\(head)Content-Length : 2\r\n\r\nabc", .invalidFraming),
        Answer(
            "folded field", "\(head)X: a\r\n b\r\nContent-Length: 3\r\n\r\nabc",
            LibCurl.unfoldsLines ? nil : .invalidFraming),
        Answer(
            "length beside chunks",
            "\(head)Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            .invalidFraming),
        Answer("chunks", "\(chunked)3\r\nabc\r\n0\r\n\r\n", nil),
        Answer("chunk size ZZ", "\(chunked)ZZ\r\nabc\r\n0\r\n\r\n", .invalidFraming),
        Answer("chunk size 0x2", "\(chunked)0x2\r\nok\r\n0\r\n\r\n", .invalidFraming),
        Answer("a trailer without a colon", "\(chunked)2\r\nok\r\n0\r\nno field\r\n\r\n", .invalidFraming),
        Answer("a head that begins with a fold", "\(head) X: 1\r\nContent-Length: 2\r\n\r\nok", .invalidFraming),
        Answer(
            "a trailer of 90 KB", "\(chunked)2\r\nok\r\n0\r\nX: \(String(repeating: "y", count: 90_000))\r\n\r\n",
            .headerTooLarge),
        Answer("chunk size of 17 digits", "\(chunked)11111111111111111\r\nabc\r\n0\r\n\r\n", .invalidFraming),
        Answer("no last chunk", "\(chunked)3\r\nabc\r\n", .truncated),
        Answer("cut inside a chunk", "\(chunked)3\r\na", .truncated),
        Answer(
            "many transfer codings",
            "\(head)Transfer-Encoding: gzip, gzip, gzip, gzip, gzip, gzip, chunked\r\n\r\n0\r\n\r\n",
            .invalidFraming),
        Answer("unknown transfer coding", "\(head)Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", .invalidFraming),
        Answer("encoded, or so it says", "\(head)Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", gzipFailure),
        Answer("identity", "\(head)Content-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc", nil),
    ]

    @Test(arguments: answers) func aBodyIsWholeOrAnError(_ answer: Answer) async throws {
        guard let code = answer.code else {
            let body = try await answer.get()
            #expect(body == Array("abc".utf8))
            return
        }
        let (error, _) = await failure { _ = try await answer.get() }
        #expect(error?.code == code, "\(String(describing: error))")
        #expect(error?.requestDisposition == .responseStarted)
    }

    @Test func aTruncatedBodyTellsHowMuchCame() async {
        let (error, _) = await failure { _ = try await Self.answers[0].get() }
        #expect(error?.receivedBytes == 3)
        #expect(error?.expectedBytes == 100)
        #expect(error?.phase == .body)
    }

    /// Beyond what 32 bits hold.
    @Test func lengthsOfGigabytesAreToldAsTheyAre() async throws {
        let length: Int64 = 5_000_000_000
        try await withServer([.readHead, .send("\(Self.head)Content-Length: \(length)\r\n\r\nabc")]) { server in
            try await withClient { client, _ in
                let (cut, _) = await failure {
                    let body = try await client.get(server.url()).body
                    #expect(body.framing == .length(length))
                    #expect(body.contentLength == length)
                    _ = try await body.discard()
                }
                #expect(cut?.code == .truncated, "\(String(describing: cut))")
                #expect(cut?.receivedBytes == 3)
                #expect(cut?.expectedBytes == length)
                let (refused, _) = await failure {
                    _ = try await client.get(server.url()).body.collect(upTo: 1 << 20)
                }
                #expect(refused?.code == .bodyTooLarge, "\(String(describing: refused))")
                #expect(refused?.expectedBytes == length)
            }
        }
    }

    @Test func unframedBodiesAreToldAndCanBeRefused() async throws {
        let answer = Answer("no length", "\(Self.head)\r\nabc", nil)
        try await withServer([.readHead, .send(answer.text)]) { server in
            try await withClient { client, _ in
                let response = try await client.get(server.url())
                #expect(response.body.framing == .untilClose)
                _ = try await response.body.discard()
            }
        }
        var strict = HTTPClient.Configuration()
        strict.limits.requiresFramedBodies = true
        let (error, _) = await failure { _ = try await answer.get(strict) }
        #expect(error?.code == .unframedBody)
    }
}
