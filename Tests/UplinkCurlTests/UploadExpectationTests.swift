// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// `Expect: 100-continue` (RFC 9110, section 10.1.1).
@Suite(.timeLimit(.minutes(2)))
struct UploadExpectationTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let script: [RawServer.Step] = [.readHead, .readBody(), .send(answer), .loop]

    @Test func theServerSaysThatItWantsTheBody() async throws {
        let script: [RawServer.Step] = [
            .readHead, .pause(.milliseconds(50)), .send("HTTP/1.1 100 Continue\r\n\r\n"), .readBody(),
            .send(Self.answer),
        ]
        try await withServer(script) { server in
            try await withClient { client, _ in
                let start = ContinuousClock.now
                var body = HTTPRequestBody.stream(Pieces(Array("hello".utf8)), length: 5)
                body.expectsContinue = true
                let request = try HTTPRequest(parsing: server.url(), method: .post)
                #expect(try await client.execute(request, body: body).status == .ok)
                #expect(ContinuousClock.now - start >= .milliseconds(45))
            }
            #expect(server.heads.first?.contains("\r\nExpect: 100-continue\r\n") == true)
            #expect(server.bodies == [BodyRecord(of: Array("hello".utf8))])
        }
    }

    @Test func aServerThatSaysNothingGetsTheBodyAfterASecond() async throws {
        try await withServer(Self.script) { server in
            try await withClient { client, _ in
                var body = HTTPRequestBody.text("hello")
                body.expectsContinue = true
                let start = ContinuousClock.now
                let request = try HTTPRequest(parsing: server.url(), method: .post)
                #expect(try await client.execute(request, body: body).status == .ok)
                #expect(ContinuousClock.now - start >= .milliseconds(900))
            }
            #expect(server.heads.count == 1)
            #expect(server.bodies == [BodyRecord(of: Array("hello".utf8))])
        }
    }

    /// RFC 9110, section 10.1.1: the server does not know the expectation, so the request is sent without it; and
    /// elsewhere, since the server may still wait for the body that was announced to it.
    @Test(arguments: ["", "no 100 here"], [nil, 5])
    func aServerThatKnowsNoExpectationsIsAskedWithout(_ text: String, length: Int64?) async throws {
        let refusal = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
        try await withServer([.readHead, .send(refusal), .waitForClose], Self.script) { server in
            try await withClient { client, _ in
                var body = HTTPRequestBody.stream(Pieces(Array("hello".utf8)), length: length)
                body.expectsContinue = true
                let timeouts = HTTPTimeouts(firstByte: .seconds(2))
                let response = try await client.post(server.url(), body: body, timeouts: timeouts)
                #expect(response.status == .ok)
                #expect(try await response.body.collect(upTo: 20) == Array("ok".utf8))
            }
            #expect(server.heads.map { $0.contains("Expect: 100-continue") } == [true, false])
            #expect(server.connections.count == 2)
            #expect(server.bodies == [BodyRecord(of: Array("hello".utf8))])
        }
    }

    /// libcurl would take the idle connection, and send the request a second time if that is dead. The server may begin
    /// its next head with a fold, which older versions would append to a field of the refusal, by then freed.
    @Test(arguments: ["HTTP/1.0", "HTTP/1.1"], [nil, 5])
    func aRefusedRequestThatMustNotBeDoneTwiceTakesNoOldConnection(version: String, length: Int64?) async throws {
        let first = "\(version) 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"
        let refusal = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n"
        let fold = "HTTP/1.1 200 OK\r\n A: b\r\nContent-Length: 2\r\n\r\nok"
        let idle: [RawServer.Step] = [.readHead, .send(first), .waitForClose]
        let refusing: [RawServer.Step] = [.readHead, .send(refusal), .waitForClose]
        for (last, error) in [(Self.answer, HTTPClientError.Code?.none), (fold, .invalidFraming)] {
            try await withServer(idle, refusing, [.readHead, .readBody(), .send(last), .waitForClose]) { server in
                try await withClient { client, _ in
                    _ = try await client.get(server.url()).body.collect(upTo: 2)
                    var body = HTTPRequestBody.stream(Pieces(Array("hello".utf8)), length: length)
                    body.expectsContinue = true
                    do {
                        let response = try await client.post(server.url(), body: body)
                        #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8) && error == nil)
                    } catch let thrown as HTTPClientError {
                        #expect(thrown.code == error, "\(thrown)")
                    }
                }
                #expect(server.connections.map(\.heads.count) == [1, 1, 1])
                #expect(server.bodies == [BodyRecord(of: Array("hello".utf8))])
            }
        }
    }

    /// The server refuses the request as such.
    @Test func aSecondRefusalIsTheAnswer() async throws {
        let refusal = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno"
        try await withServer([.readHead, .send(refusal), .waitForClose]) { server in
            try await withClient { client, _ in
                var body = HTTPRequestBody.bytes([UInt8](repeating: 1, count: 8_000_000))
                body.expectsContinue = true
                let request = try HTTPRequest(parsing: server.url(), method: .put)
                let response = try await client.execute(request, body: body)
                #expect(response.status == .expectationFailed)
                #expect(try await response.body.collect(upTo: 9) == Array("no".utf8))
            }
            #expect(server.heads.count == 2)
        }
    }

    /// libcurl has sent all of the body by then, and asks no more.
    @Test(arguments: [nil, 5]) func aRefusalAfterTheWholeBodyIsTheAnswer(length: Int64?) async throws {
        let refusal = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno"
        try await withServer([.readHead, .readBody(), .send(refusal), .waitForClose]) { server in
            try await withClient { client, _ in
                var body = HTTPRequestBody.stream(Pieces(Array("hello".utf8)), length: length, isReplayable: true)
                body.expectsContinue = true
                let request = try HTTPRequest(parsing: server.url(), method: .put)
                let response = try await client.execute(request, body: body)
                #expect(response.status == .expectationFailed)
                #expect(try await response.body.collect(upTo: 9) == Array("no".utf8))
            }
        }
    }

    /// The body has begun to go out, since no 100 came in time; libcurl would go on with the rest of it.
    @Test(arguments: [nil, 3_000_000]) func aLateRefusalBeginsTheBodyAnewElsewhere(length: Int64?) async throws {
        let refusal = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno"
        let late: [RawServer.Step] = [.readHead, .readSome(200_000), .send(refusal), .waitForClose]
        try await withServer(late, Self.script) { server in
            try await withClient { client, _ in
                let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 >> 8) }
                var body = HTTPRequestBody.stream(Pieces(bytes), length: length, isReplayable: true)
                body.expectsContinue = true
                let request = try HTTPRequest(parsing: server.url(), method: .put)
                #expect(try await client.execute(request, body: body).status == .ok)
                #expect(server.bodies == [BodyRecord(of: bytes)])
            }
            #expect(server.heads.map { $0.contains("Expect: 100-continue") } == [true, false])
            #expect(server.connections.count == 2)
        }
    }

    /// The answer comes instead of a 100, so the body is not sent; the server may take for it whatever follows.
    @Test(arguments: [nil, 5]) func nothingFollowsWhereTheBodyWasNotSent(length: Int64?) async throws {
        try await withServer([.readHead, .send(Self.answer), .waitForClose], Self.script) { server in
            try await withClient { client, _ in
                var body = HTTPRequestBody.stream(Pieces(Array("hello".utf8)), length: length)
                body.expectsContinue = true
                let response = try await client.post(server.url(), body: body)
                #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
                let timeouts = HTTPTimeouts(firstByte: .seconds(2))
                let next = try await client.put(server.url(), body: .text("next"), timeouts: timeouts)
                #expect(try await next.body.collect(upTo: 2) == Array("ok".utf8))
            }
            #expect(server.connections.map(\.heads.count) == [1, 1])
            #expect(server.bodies == [BodyRecord(of: Array("next".utf8))])
        }
    }

    /// The refusal comes before the body, which then can still be sent elsewhere.
    @Test func aBodyThatTheServerDoesNotWantIsNotTouched() async throws {
        let refusal = "HTTP/1.1 307 Elsewhere\r\nLocation: /there\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        try await withServer([.readHead, .send(refusal)], Self.script) { server in
            try await withClient { client, _ in
                var body = HTTPRequestBody.stream(Pieces(Array("hello".utf8)), length: 5)
                body.expectsContinue = true
                let request = try HTTPRequest(parsing: server.url(), method: .post)
                let response = try await client.execute(request, body: body)
                #expect(response.status == .ok)
                #expect(response.url == server.url("/there"))
            }
            #expect(server.bodies == [BodyRecord(of: Array("hello".utf8))])
        }
    }
}
