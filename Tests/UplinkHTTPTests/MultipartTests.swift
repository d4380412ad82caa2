// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import TestSupport
import Testing
import UplinkCore

@testable import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct MultipartTests {
    private func boundary(_ body: HTTPRequestBody) throws -> String {
        let contentType = try #require(body.contentType)
        let prefix = "multipart/form-data; boundary="
        #expect(contentType.hasPrefix(prefix))
        return String(contentType.dropFirst(prefix.count))
    }

    private func text(_ body: HTTPRequestBody) async throws -> String {
        String(decoding: try await body.collect(upTo: 1 << 20), as: UTF8.self)
    }

    @Test func aFormLooksAsTheSpecificationHasIt() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("a.txt", Array("file".utf8))
        let body = HTTPRequestBody.multipart([
            .field("one", "ü\r\n"), .file("two", directory.path.appending("a.txt"), contentType: "text/plain"),
            .bytes("three", [0x78], filename: "x.bin"), HTTPFormPart(name: "four", body: .none),
        ])
        let boundary = try boundary(body)
        let expected = """
            --\(boundary)
            Content-Disposition: form-data; name="one"

            ü\r\n
            --\(boundary)
            Content-Disposition: form-data; name="two"; filename="a.txt"
            Content-Type: text/plain

            file
            --\(boundary)
            Content-Disposition: form-data; name="three"; filename="x.bin"
            Content-Type: application/octet-stream

            x
            --\(boundary)
            Content-Disposition: form-data; name="four"


            --\(boundary)--

            """
        let sent = try await text(body)
        // The literal's lines end with LF alone, save the one that says otherwise.
        #expect(sent.unicodeScalars.filter { $0 != "\r" } == expected.unicodeScalars.filter { $0 != "\r" })
        #expect(sent.hasPrefix("--\(boundary)\r\nContent-Disposition: form-data; name=\"one\"\r\n\r\n"))
        #expect(sent.hasSuffix("\r\n--\(boundary)--\r\n"))
        #expect(try await body.prepare(blocking: InlineWork()).length == Int64(sent.utf8.count))
        #expect(body.isReplayable)
        #expect(body.length == nil)  // the file's is not known yet
    }

    @Test func namesAreQuotedAsBrowsersDo() async throws {
        let body = HTTPRequestBody.multipart([.bytes("a\"b\r\nc", [], filename: "\"ü\n.txt", contentType: "a/b")])
        #expect(try await text(body).contains("name=\"a%22b%0D%0Ac\"; filename=\"%22ü%0A.txt\"\r\n"))
    }

    @Test func aPartsTypeWithALineBreakIsRefused() async throws {
        let body = HTTPRequestBody.multipart([.bytes("a", [], filename: "b", contentType: "a/b\r\nX: y")])
        let error = await #expect(throws: HTTPClientError.self) { try await body.collect(upTo: 1000) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func aBoundaryThatOccursIsReplaced() {
        let candidates = Locked(["aaa", "bbb", "ccc"])
        let bytes = Array("aabaabbb aaaa".utf8)
        let form = MultipartForm([.bytes("x", bytes, filename: "y")]) {
            candidates.withLock { $0.removeFirst() }
        }
        #expect(form.boundary == "ccc")
    }

    @Test func boundariesAreNeverTheSame() throws {
        let all = Set(try (0..<1000).map { _ in try boundary(.multipart([.field("a", "b")])) })
        #expect(all.count == 1000)
        #expect(all.allSatisfy { $0.utf8.count == 39 })
    }

    @Test func theLengthIsKnownWhenThatOfAllPartsIs() async throws {
        let pieces = RequestBodyTests.Pieces(pieces: [[1, 2], [3]])
        let known = HTTPRequestBody.multipart([
            HTTPFormPart(name: "a", body: .stream(pieces, length: 3, isReplayable: true)), .field("b", "c"),
        ])
        let length = try #require(known.length)
        #expect(try await known.collect(upTo: 1000).count == Int(length))
        #expect(known.isReplayable)
        let unknown = HTTPRequestBody.multipart([HTTPFormPart(name: "a", body: .stream(pieces)), .field("b", "c")])
        #expect(unknown.length == nil)
        #expect(!unknown.isReplayable)
        #expect(try await unknown.collect(upTo: 1000).count == Int(length))
        #expect(unknown.isSpent)
    }

    /// Two wrongs make no right: a byte too few in one part and one too many in another.
    @Test func everyPartHasItsOwnLength() async {
        let pieces = RequestBodyTests.Pieces(pieces: [[1, 2], [3]])
        let body = HTTPRequestBody.multipart([
            HTTPFormPart(name: "a", body: .stream(pieces, length: 2)),
            HTTPFormPart(name: "b", body: .stream(pieces, length: 4)),
        ])
        let error = await #expect(throws: HTTPClientError.self) { try await body.collect(upTo: 1000) }
        #expect(error?.code == .bodyLengthMismatch)
    }

    @Test func aFormWithoutPartsHasAnEnd() async throws {
        let body = HTTPRequestBody.multipart([])
        #expect(try await text(body) == "--\(try boundary(body))--\r\n")
        #expect(body.length == Int64(try await text(body).utf8.count))
    }
}
