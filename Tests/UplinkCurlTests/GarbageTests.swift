// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct GarbageTests {
    private static let line = String(repeating: "a", count: 150_000)
    private static let fields = (0..<60_000).map { "X-\($0): 1\r\n" }.joined()

    static let answers = [
        Answer("HTTP/0.9", "hello\n", .invalidResponse),
        Answer("binary", "\u{1}\u{2}\u{3}\u{4}\r\n\r\n", .invalidResponse),
        Answer("empty status line", "\r\n\r\n", .invalidResponse),
        Answer("status 099", "HTTP/1.1 099 No\r\n\r\n", .invalidResponse),
        Answer("status 9999", "HTTP/1.1 9999 No\r\n\r\n", .invalidResponse),
        Answer("head cut short", "HTTP/1.1 200 OK\r\nContent-Le", .connectionReset),
        Answer("HTTP/7.3", "HTTP/7.3 200 OK\r\n\r\n", .invalidResponse),
        Answer("one line of 150 KB", "HTTP/1.1 200 OK\r\nX: \(line)\r\n\r\n", .headerTooLarge),
        Answer("60,000 fields", "HTTP/1.1 200 OK\r\n\(fields)\r\n", .headerTooLarge),
        Answer(
            "endless 103", String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 5000), .tooManyInterimResponses),
        Answer("unsolicited 101", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nraw", .unexpectedUpgrade),
        Answer(
            "a few 103, then the answer",
            "HTTP/1.1 103 E\r\n\r\nHTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", nil),
    ]

    @Test(arguments: answers) func garbageIsATypedError(_ answer: Answer) async throws {
        guard let code = answer.code else {
            let body = try await answer.get()
            #expect(body.isEmpty)
            return
        }
        let (error, _) = await failure { _ = try await answer.get() }
        #expect(error?.code == code, "\(String(describing: error))")
    }

    @Test func anEmptyReplyMayHaveBeenProcessed() async throws {
        try await withServer([.readHead]) { server in
            try await withClient { client, _ in
                let (error, _) = await failure { _ = try await client.get(server.url()) }
                #expect(error?.code == .emptyReply)
                #expect(error?.requestDisposition == .maybeProcessed)
                #expect(error?.phase == .firstByte)
                #expect(error?.curlCode == 52)
            }
        }
    }
}
