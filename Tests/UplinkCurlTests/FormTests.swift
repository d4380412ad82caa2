// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import UplinkCurl
import UplinkHTTP

/// A form of which one part is made while it is sent, so that nobody knows its length.
@Suite(.timeLimit(.minutes(1)))
struct FormTests {
    private static let content = (0..<300_001).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    private func form() -> HTTPRequestBody {
        let log = HTTPFormPart(name: "log", filename: "log.bin", body: .stream(Pieces(Self.content)))
        return .multipart([.field("title", "A day"), log, .field("end", "z")])
    }

    /// The form as it is to arrive, by hand.
    private func written(_ form: HTTPRequestBody) throws -> [UInt8] {
        let type = try #require(form.contentType)
        let prefix = "multipart/form-data; boundary="
        try #require(type.hasPrefix(prefix))
        let boundary = type.dropFirst(prefix.count)
        let disposition = "Content-Disposition: form-data; name="
        let beginning =
            "--\(boundary)\r\n\(disposition)\"title\"\r\n\r\nA day\r\n"
            + "--\(boundary)\r\n\(disposition)\"log\"; filename=\"log.bin\"\r\n\r\n"
        let end = "\r\n--\(boundary)\r\n\(disposition)\"end\"\r\n\r\nz\r\n--\(boundary)--\r\n"
        return Array(beginning.utf8) + Self.content + Array(end.utf8)
    }

    @Test func aFormOfUnknownLengthArrivesInChunks() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let form = form()
        #expect(form.length == nil)
        let expected = try written(form)
        try await withServer([.readHead, .readBody(), .send(answer), .loop]) { server in
            try await withClient { client, _ in
                let response = try await client.put(server.url(), body: form)
                #expect(try await response.body.collect(upTo: 2) == Array("ok".utf8))
                // Nothing is left of it on the connection.
                #expect(try await client.get(server.url()).body.collect(upTo: 2) == Array("ok".utf8))
            }
            #expect(server.connections.count == 1)
            let head = try #require(server.heads.first).lowercased()
            #expect(head.contains("\r\ntransfer-encoding: chunked\r\n"))
            #expect(!head.contains("\r\ncontent-length:"))
            #expect(head.contains("\r\ncontent-type: multipart/form-data; boundary=uplink-"))
            #expect(server.bodies.first == BodyRecord(of: expected))
        }
    }

    /// Another reader of chunks than the tests' own.
    @Test(.enabled(if: NginxServer.isInstalled || Spawn.isCI)) func nginxTakesAFormOfUnknownLength() async throws {
        let nginx = try await offPool { try NginxServer() }
        defer { nginx.stop() }
        let form = form()
        let expected = try written(form)
        try await withClient { client, _ in
            #expect(try await client.put(nginx.url("/take"), body: form).status == .created)
            let stored = try await client.get(nginx.url("/take")).body.collect(upTo: 1 << 20)
            #expect(stored.count == expected.count && stored == expected)
        }
    }
}
