// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import UplinkCommand

/// What is served from a folder that others change at the same time.
@Suite(.timeLimit(.minutes(1)))
struct ServedFilesTests {
    /// The answer to a request for a file's data, none of which is read yet.
    private func respond(with served: ServedFiles, for item: Item) async throws -> HTTPResponse {
        let authorization = "Basic \(Data("me:secret".utf8).base64EncodedString())"
        let request = HTTPRequest(
            method: .GET, version: .http11, path: "/items/\(item.id)/data", query: [],
            headers: [.authorization: authorization], body: Data())
        let credentials = try Credentials(user: "me", password: "secret")
        return try await FilesService(served, for: credentials).respond(to: request)
    }

    @Test func aFileThatIsReplacedIsSentAsItWasAnnounced() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let old = [UInt8](repeating: 1, count: 200_000)
        try directory.write("file", old)
        let served = try ServedFiles(folder: directory.path)
        let file = try #require(try await served.items(in: served.root.id).first)
        let answer = try await respond(with: served, for: file)
        #expect(unlink(directory.path.appending("file").string) == 0)
        try directory.write("file", [2])
        #expect(try await Array(answer.bodyData) == old)
        #expect(try await Array(respond(with: served, for: file).bodyData) == [2])
    }

    @Test func aFileThatBecomesShorterEndsTheAnswer() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("file", [UInt8](repeating: 1, count: 200_000))
        let served = try ServedFiles(folder: directory.path)
        let file = try #require(try await served.items(in: served.root.id).first)
        let answer = try await respond(with: served, for: file)
        #expect(truncate(directory.path.appending("file").string, 100_000) == 0)
        await #expect(throws: ServiceError.failed("the file has become shorter")) { try await answer.bodyData }
    }

    @Test func whatHasComeInAFilesPlaceIsNotRead() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("file", [1])
        let path = directory.path.appending("file").string
        let served = try ServedFiles(folder: directory.path)
        let file = try #require(try await served.items(in: served.root.id).first)
        for make in [{ symlink("/etc/passwd", path) }, { mkfifo(path, 0o600) }, { mkdir(path, 0o700) }] {
            #expect(remove(path) == 0 && make() == 0)
            #expect(try await respond(with: served, for: file).statusCode.code == 404)
        }
    }
}
