// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import UplinkCore
import UplinkHTTP

@testable import UplinkCurl

/// Bodies as a server sees them.
@Suite(.timeLimit(.minutes(2)))
struct UploadTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let script: [RawServer.Step] = [.readHead, .readBody(), .send(answer), .loop]

    /// How a body is given.
    enum Kind: CaseIterable { case bytes, file, stream, unknownLength }

    private func body(_ bytes: [UInt8], _ kind: Kind, in directory: TemporaryDirectory) throws -> HTTPRequestBody {
        switch kind {
        case .bytes: return .bytes(bytes)
        case .file:
            try directory.write("upload", bytes)
            return .file(directory.path.appending("upload"))
        case .stream: return .stream(Pieces(bytes), length: Int64(bytes.count))
        case .unknownLength: return .stream(Pieces(bytes))
        }
    }

    @Test(arguments: Kind.allCases, [0, 1, 16_383, 16_384, 16_385, 65_536, 131_073, 1 << 20])
    func theServerGetsEveryByte(_ kind: Kind, _ size: Int) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try await withServer(Self.script) { server in
            try await withClient { client, _ in
                let request = try HTTPRequest(parsing: server.url(), method: .post)
                let response = try await client.execute(request, body: body(bytes, kind, in: directory))
                #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
            }
            let head = try #require(server.heads.first).lowercased()
            #expect(server.bodies == [BodyRecord(of: bytes)])
            #expect(head.hasPrefix("post / http/1.1\r\n"))
            #expect(head.contains("\r\ncontent-length: \(size)\r\n") == (kind != .unknownLength))
            #expect(head.contains("\r\ntransfer-encoding: chunked\r\n") == (kind == .unknownLength))
            #expect(!head.contains("\r\nexpect:") && !head.contains("\r\ncontent-type:"))
        }
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "PROPFIND", "GET", "OPTIONS"])
    func anyMethodCarriesABody(_ name: String) async throws {
        try await withServer(Self.script) { server in
            try await withClient { client, _ in
                let method = try #require(HTTPRequest.Method(rawValue: name))
                let request = try HTTPRequest(parsing: server.url(), method: method)
                #expect(try await client.execute(request, body: .text("hello")).status == .ok)
            }
            #expect(server.bodies == [BodyRecord(of: Array("hello".utf8))])
            let head = try #require(server.heads.first)
            #expect(head.hasPrefix("\(name) / HTTP/1.1\r\n"))
            #expect(head.contains("\r\nContent-Type: text/plain; charset=utf-8\r\n"))
        }
    }

    /// RFC 9110, section 8.6: what is expected to carry something says that it carries nothing; the others say nothing.
    @Test(
        arguments: zip(
            ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"], [true, true, true, false, false, false]))
    func methodsWithoutABodyAnnounceWhatIsExpectedOfThem(_ name: String, _ isAnnounced: Bool) async throws {
        try await withServer([.readHead, .send(Self.answer), .loop]) { server in
            try await withClient { client, _ in
                let method = try #require(HTTPRequest.Method(rawValue: name))
                let request = try HTTPRequest(parsing: server.url(), method: method)
                #expect(try await client.execute(request).status == .ok)
            }
            let head = try #require(server.heads.first).lowercased()
            #expect(head.contains("\r\ncontent-length: 0\r\n") == isAnnounced)
            #expect(!head.contains("transfer-encoding"))
        }
    }

    @Test func aFormArrives() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let bytes = [UInt8](repeating: 7, count: 300_000)
        try directory.write("photo.bin", bytes)
        try await withServer(Self.script) { server in
            try await withClient { client, _ in
                let form = HTTPRequestBody.multipart([
                    .field("title", "A day"), .file("photo", directory.path.appending("photo.bin")),
                    HTTPFormPart(name: "log", filename: "log", body: .stream(Pieces(bytes), length: 300_000)),
                ])
                let request = try HTTPRequest(parsing: server.url(), method: .post)
                #expect(try await client.execute(request, body: form).status == .ok)
            }
            let head = try #require(server.heads.first)
            #expect(head.contains("\r\nContent-Type: multipart/form-data; boundary=uplink-"))
            let record = try #require(server.bodies.first)
            #expect(head.contains("\r\nContent-Length: \(record.count)\r\n"))
            #expect(record.count > 600_000)
            #expect(record.text.contains("name=\"photo\"; filename=\"photo.bin\"\r\n"))
        }
    }

    @Test func aConnectionIsUsedAgainAfterAnUpload() async throws {
        try await withServer(Self.script) { server in
            try await withClient { client, _ in
                for method in [HTTPRequest.Method.put, .get, .put] {
                    let request = try HTTPRequest(parsing: server.url(), method: method)
                    let body: HTTPRequestBody = method == .put ? .text("hello") : .none
                    let response = try await client.execute(request, body: body)
                    _ = try await response.body.collect(upTo: 2)
                }
            }
            #expect(server.connections.count == 1)
            #expect(server.heads.count == 3)
        }
    }

    @Test func manyAtOnceArrive() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let bytes = (0..<700_001).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        try directory.write("upload", bytes)
        try await withServer(Self.script) { server in
            try await withClient { client, _ in
                try await withThrowingDiscardingTaskGroup { group in
                    for number in 0..<10 {
                        group.addTask {
                            let request = try HTTPRequest(parsing: server.url(), method: .put)
                            let file = HTTPRequestBody.file(directory.path.appending("upload"))
                            let body = number.isMultiple(of: 2) ? file : .stream(Pieces(bytes))
                            #expect(try await client.execute(request, body: body).status == .ok)
                        }
                    }
                }
            }
            #expect(server.bodies.count == 10)
            #expect(server.bodies.allSatisfy { $0 == BodyRecord(of: bytes) })
        }
    }

    /// libcurl sends no chunks on a connection on which the server has spoken HTTP/1.0.
    @Test func chunksGoToAServerThatHasSpokenHTTP10() async throws {
        let old = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"
        try await withServer([.readHead, .send(old), .waitForClose], Self.script) { server in
            try await withClient { client, _ in
                _ = try await client.get(server.url()).body.collect(upTo: 9)
                let request = try HTTPRequest(parsing: server.url(), method: .put)
                let body = HTTPRequestBody.stream(Pieces(Array("hello".utf8)), isReplayable: true)
                #expect(try await client.execute(request, body: body).status == .ok)
            }
            #expect(server.bodies == [BodyRecord(of: Array("hello".utf8))])
        }
    }

    /// The connection is the proxy's, whoever has spoken HTTP/1.0 on it.
    @Test func chunksGoThroughAProxyOnWhichSomebodyHasSpokenHTTP10() async throws {
        let old = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"
        try await withServer([.readHead, .send(old), .waitForClose], Self.script) { proxy in
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .always(try .init(proxy.url()), except: [])
            try await withClient(transport: configuration) { client, _ in
                _ = try await client.get("http://a.test/").body.collect(upTo: 9)
                let body = HTTPRequestBody.stream(Pieces(Array("hello".utf8)), isReplayable: true)
                #expect(try await client.put("http://b.test/", body: body).status == .ok)
            }
            #expect(proxy.bodies == [BodyRecord(of: Array("hello".utf8))])
        }
    }

    @Test(.disabled(if: LibCurl.sendsHugeHeads, "this libcurl sends it"))
    func aHeadThatIsTooLargeIsTheRequests() async throws {
        try await withServer(Self.script) { server in
            try await withClient { client, _ in
                let headers: HTTPFields = [.userAgent: String(repeating: "a", count: 1_100_000)]
                let (error, _) = await failure { _ = try await client.get(server.url(), headers: headers) }
                #expect(error?.code == .invalidRequest && error?.requestDisposition == .notSent)
            }
            #expect(server.heads.isEmpty)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func aRedirectIsFollowedWithOrWithoutTheBody(_ code: Int) async throws {
        let redirect = "HTTP/1.1 \(code) Go\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"
        let script: [RawServer.Step] = [
            .readHead, .readBody(), .send(redirect), .readHead, .readBody(), .send(Self.answer), .waitForClose,
        ]
        try await withServer(script, script) { server in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            try directory.write("upload", Array("hello".utf8))
            try await withClient { client, _ in
                let request = try HTTPRequest(parsing: server.url(), method: .put)
                let body = HTTPRequestBody.file(directory.path.appending("upload"))
                #expect(try await client.execute(request, body: body).status == .ok)
            }
            let sent = BodyRecord(of: Array("hello".utf8))
            let nothing = BodyRecord(of: [])
            #expect(server.bodies == [sent, code == 303 ? nothing : sent])
            #expect(server.heads.last?.hasPrefix(code == 303 ? "GET /there " : "PUT /there ") == true)
        }
    }

    @Test(.enabled(if: NginxServer.isInstalled || Spawn.isCI)) func bodiesGoOverTLSToo() async throws {
        let nginx = try NginxServer()
        defer { nginx.stop() }
        var transport = CurlTransport.Configuration()
        transport.trust = .authorities(nginx.authority)
        try await withClient(transport: transport) { client, _ in
            let bytes = [UInt8](repeating: 4, count: 3_000_000)
            for body in [HTTPRequestBody.bytes(bytes), .stream(Pieces(bytes))] {
                let url = nginx.url("/take", certificate: "good")
                let response = try await client.execute(HTTPRequest(parsing: url, method: .put), body: body)
                #expect(response.status == .created)
                #expect(try await client.get(url).body.collect(upTo: 3_000_000) == bytes)
                _ = try await client.execute(HTTPRequest(parsing: url, method: .delete))
            }
        }
    }

    @Test func progressIsToldWhileItGoes() async throws {
        let bytes = [UInt8](repeating: 3, count: 2_000_000)
        try await withServer(Self.script) { server in
            try await withClient { _, transport in
                let events = Locked<[(Int64, Int64?)]>([])
                let request = HTTPTransportRequest(
                    head: try HTTPRequest(parsing: server.url(), method: .post),
                    body: .stream(Pieces(bytes), length: 2_000_000),
                    observer: { event in
                        guard case .sent(let sent, let length) = event else { return }
                        events.withLock { $0.append((sent, length)) }
                    })
                _ = try await transport.send(request).body.collect(upTo: 2)
                let told = events.withLock { $0 }
                #expect(told.count > 1)
                #expect(told.map(\.0) == told.map(\.0).sorted() && Set(told.map(\.0)).count == told.count)
                #expect(told.last?.0 == 2_000_000)
                #expect(told.allSatisfy { $0.1 == 2_000_000 })
            }
        }
    }

    /// What frames the chunks is not part of the body.
    @Test(arguments: [0, 100_000]) func whatHasGoneOutIsCountedWithoutItsFraming(_ count: Int) async throws {
        try await withServer(Self.script) { server in
            try await withClient { _, transport in
                let recorder = Recorder()
                let request = HTTPTransportRequest(
                    head: try HTTPRequest(parsing: server.url(), method: .post),
                    body: .stream(Pieces([UInt8](repeating: 3, count: count))), observer: { recorder.observe($0) })
                _ = try await transport.send(request).body.collect(upTo: 2)
                #expect(recorder.timings?.sentBytes == Int64(count))
            }
        }
    }
}

/// Bytes in pieces of odd sizes; iterated as often as one likes.
struct Pieces: AsyncSequence, Sendable {
    let bytes: [UInt8]
    var size = 30_011
    /// A wait before every piece.
    var pause: Duration?

    init(_ bytes: [UInt8], size: Int = 30_011, pause: Duration? = nil) {
        (self.bytes, self.size, self.pause) = (bytes, size, pause)
    }

    struct Iterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var place = 0

        mutating func next() async throws -> [UInt8]? {
            if let pause = pieces.pause { try await Task.sleep(for: pause) }
            guard place < pieces.bytes.count else { return nil }
            let end = Swift.min(place + pieces.size, pieces.bytes.count)
            defer { place = end }
            return Array(pieces.bytes[place..<end])
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }
}
