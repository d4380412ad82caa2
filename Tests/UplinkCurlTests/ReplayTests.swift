// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// A server closes a connection just when it is used again: libcurl repeats the request then, and must not where that
/// does something twice.
@Suite(.timeLimit(.minutes(1)))
struct ReplayTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    /// Answers once, then takes a second request and closes without a word.
    private static let dying: [RawServer.Step] = [.readHead, .readBody(), .send(answer), .readHead, .readBody()]
    private static let healthy: [RawServer.Step] = [.readHead, .readBody(), .send(answer), .loop]

    /// Asks once, so that there is an idle connection, then sends the request that it dies of.
    private func sendOverADyingConnection(
        _ method: HTTPRequest.Method, body: HTTPRequestBody = .none, isIdempotent: Bool? = nil
    ) async throws -> (heads: [String], bodies: [BodyRecord]) {
        try await withServer(Self.dying, Self.healthy) { server in
            try await withClient { client, _ in
                _ = try await client.get(server.url("/first")).body.collect(upTo: 2)
                let request = try HTTPRequest(parsing: server.url("/second"), method: method)
                let response = try await client.execute(
                    request, body: body, options: .init(isIdempotent: isIdempotent))
                #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
            }
            return (server.heads.filter { $0.contains(" /second ") }, server.bodies.filter { $0.count > 0 })
        }
    }

    @Test func aGetIsRepeated() async throws {
        let (heads, _) = try await sendOverADyingConnection(.get)
        #expect(heads.count == 2)
    }

    @Test(arguments: ["POST", "PATCH", "PROPFIND"]) func whatIsNotIdempotentIsSeenOnce(_ name: String) async throws {
        let method = try #require(HTTPRequest.Method(rawValue: name))
        let (heads, bodies) = try await sendOverADyingConnection(method, body: .text("hello"))
        #expect(heads.count == 1)
        #expect(bodies == [BodyRecord(of: Array("hello".utf8))])
    }

    @Test func aGetThatIsDeclaredNotToBeIsSeenOnce() async throws {
        let (heads, _) = try await sendOverADyingConnection(.get, isIdempotent: false)
        #expect(heads.count == 1)
    }

    @Test func aPutIsRepeatedWithItsWholeBody() async throws {
        let bytes = [UInt8](repeating: 9, count: 50_000)
        for body in [HTTPRequestBody.bytes(bytes), .stream(Pieces(bytes), isReplayable: true)] {
            let (heads, bodies) = try await sendOverADyingConnection(.put, body: body)
            #expect(heads.count == 2)
            #expect(bodies == [BodyRecord(of: bytes), BodyRecord(of: bytes)])
        }
    }

    @Test func aPostThatIsDeclaredToBeIsRepeated() async throws {
        let (heads, bodies) = try await sendOverADyingConnection(.post, body: .text("hello"), isIdempotent: true)
        #expect(heads.count == 2)
        #expect(bodies == [BodyRecord(of: Array("hello".utf8)), BodyRecord(of: Array("hello".utf8))])
    }

    /// It could not be sent again, so it is not sent where that may be needed.
    @Test func aBodyThatCannotBeReplayedIsSeenOnce() async throws {
        let bytes = [UInt8](repeating: 9, count: 50_000)
        let (heads, bodies) = try await sendOverADyingConnection(.put, body: .stream(Pieces(bytes)))
        #expect(heads.count == 1)
        #expect(bodies == [BodyRecord(of: bytes)])
    }

    @Test(arguments: [307, 308]) func aRedirectWantsABodyThatIsGone(_ code: Int) async throws {
        let redirect = "HTTP/1.1 \(code) Go\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"
        try await withServer([.readHead, .readBody(), .send(redirect), .loop]) { server in
            try await withClient { client, _ in
                let request = try HTTPRequest(parsing: server.url("/here"), method: .post)
                let (error, _) = await failure {
                    _ = try await client.execute(request, body: .stream(Pieces([1, 2, 3])))
                }
                #expect(error?.code == .bodyNotReplayable)
                #expect(error?.redirects == [server.url("/here")])
            }
            #expect(server.heads.count == 1)
        }
    }
}
