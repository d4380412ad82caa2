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
    private func respond(
        with served: ServedFiles, for item: Item, method: HTTPMethod = .GET
    ) async throws -> HTTPResponse {
        let authorization = "Basic \(Data("me:secret".utf8).base64EncodedString())"
        let request = HTTPRequest(
            method: method, version: .http11, path: "/items/\(item.id)/data", query: [],
            headers: [.authorization: authorization], body: Data())
        let credentials = try Credentials(user: "me", password: "secret")
        return try await FilesService(served, for: credentials).respond(to: request)
    }

    /// Whatever came behind the head would be taken for the next answer (RFC 9112, section 6.3).
    @Test(arguments: [("file", 200), ("gone", 404)])
    func anAnswerToHEADHasTheLengthAndNoContent(name: String, status: Int) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("file", [1, 2, 3])
        try directory.write("gone", [1, 2, 3])
        let served = try ServedFiles(folder: directory.path)
        let file = try #require(try await served.items(in: served.root.id).first { $0.name == name })
        #expect(unlink(directory.path.appending("gone").string) == 0)
        let answer = try await respond(with: served, for: file, method: .HEAD)
        let whole = try await respond(with: served, for: file)
        #expect(answer.statusCode.code == status && whole.statusCode.code == status)
        #expect(try await answer.bodyData.isEmpty)
        let length = try await whole.bodyData.count
        #expect(answer.headers[.contentLength] == "\(length)")
        #expect(answer.headers[.contentType] == whole.headers[.contentType])
    }

    @Test func whatAPathAllowsIsTold() async throws {
        let served = ServedFiles()
        let answer = try await respond(with: served, for: try await served.root, method: .PUT)
        #expect(answer.statusCode.code == 405)
        #expect(answer.headers[HTTPHeader("Allow")] == "GET, HEAD")
    }

    /// It would not be served after a restart, and be deleted as what is left of an upload.
    @Test(arguments: [".uplink-upload-1f", ".uplink-upload-ffffffffffffffff"])
    func aNameOfTheServersOwnIsRefused(name: String) async throws {
        try await withFolders { folder, _, served in
            let root = try await served.root.id
            let refusal = ServiceError.badRequest("`\(name)` is a name of the server's own")
            await #expect(throws: refusal) { try await served.makeFolder(named: name, in: root) }
            await #expect(throws: refusal) { try await served.beginUpload(named: name, in: root) }
            let left = try names(in: folder)
            #expect(left == ["d"])
        }
    }

    /// Longer than a path may be (`PATH_MAX`), which only the way to the folder is.
    @Test func whatIsVeryDeepIsServedAgain() async throws {
        try await withFolders { folder, _, served in
            let name = String(repeating: "n", count: 250)
            var inner = try await served.root
            for _ in 0..<20 { inner = try await served.makeFolder(named: name, in: inner.id) }
            let again = try ServedFiles(folder: folder)
            #expect(again.skipped == 0)
            #expect(try await again.items(in: inner.id).isEmpty)
            let top = try #require(try await again.items(in: again.root.id).first { $0.name == name })
            try await again.delete(top.id)
            #expect(try names(in: folder) == ["d"])
        }
    }

    /// Or a client would take it for one that has changed.
    @Test func aNewFoldersDateIsThatAfterARestart() async throws {
        try await withFolders { folder, _, served in
            for number in 0..<20 {
                let new = try await served.makeFolder(named: "\(number)", in: served.root.id)
                let again = try ServedFiles(folder: folder)
                let items = try await again.items(in: again.root.id)
                #expect(items.first { $0.id == new.id }?.modificationDate == new.modificationDate)
            }
        }
    }

    /// No client could read a listing with such a date.
    @Test func aDateOfAYearWithFiveDigitsIsTheLatestThatCanBeWritten() async throws {
        let directory = try TemporaryDirectory(in: "/dev/shm")  // not every file system keeps such dates
        defer { directory.remove() }
        try directory.write("file", [1])
        for name in ["file", "."] {
            let date = timespec(tv_sec: 400_000_000_000, tv_nsec: 1)
            try #require(utimensat(AT_FDCWD, directory.path.appending(name).string, [date, date], 0) == 0)
        }
        let served = try ServedFiles(folder: directory.path)
        let dates = try await served.items(in: served.root.id).map(\.modificationDate) + [served.root.modificationDate]
        #expect(dates.map(\.description) == ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"])
        #expect(Timestamp(seconds: .min).nearestWritable.description == "0001-01-01T00:00:00Z")
    }

    @Test func aNameThatOnlyBeginsLikeTheServersOwnIsServedAgain() async throws {
        try await withFolders { folder, _, served in
            _ = try await served.makeFolder(named: ".uplink-upload-notes", in: served.root.id)
            let again = try ServedFiles(folder: folder)
            #expect(again.skipped == 0)
            #expect(try await again.items(in: again.root.id).map(\.name).contains(".uplink-upload-notes"))
        }
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

    /// A folder with a served folder `d`, and one beside it that is not served; each has a file `f`.
    private func withFolders(
        _ body: (_ folder: FilePath, _ outside: FilePath, _ served: ServedFiles) async throws -> Void
    ) async throws {
        let home = try TemporaryDirectory()
        defer { try? FileManager.default.removeItem(atPath: home.path.string) }
        for (name, text) in [("served/d", "inside"), ("outside", "secret")] {
            let path = home.path.appending(FilePath(name).components)
            try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path.appending("f").string))
        }
        let folder = home.path.appending("served")
        try await body(folder, home.path.appending("outside"), ServedFiles(folder: folder))
    }

    /// The same after a restart, so that a client does not take a folder for one that has changed.
    @Test func aFoldersDateIsThatOfItsLastChangeOnTheDisk() async throws {
        try await withFolders { folder, _, served in
            let root = try await served.root.id
            func date() async throws -> Timestamp? {
                let date = try await served.items(in: root).first?.modificationDate
                let loaded = try ServedFiles(folder: folder)
                #expect(try await loaded.items(in: root).first?.modificationDate == date)
                return date
            }
            let directory = try #require(try await served.items(in: root).first).id
            var dates = [try await date()]
            let made = try await served.makeFolder(named: "made", in: directory)
            dates.append(try await date())
            var upload = try await served.beginUpload(named: "put", in: directory)
            try upload.write(Data([1]))
            _ = try await served.finish(upload, named: "put", in: directory)
            upload.end()
            dates.append(try await date())
            try await served.delete(made.id)
            dates.append(try await date())
            #expect(Set(dates).count == 4)
        }
    }

    private func names(in path: FilePath) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path.string).sorted()
    }

    @Test func aLinkThatHasComeInAFoldersPlaceLeadsNowhere() async throws {
        try await withFolders { folder, outside, served in
            let link = folder.appending("d").string
            let directory = try #require(try await served.items(in: served.root.id).first)
            let file = try #require(try await served.items(in: directory.id).first)
            var upload = try await served.beginUpload(named: "begun", in: directory.id)
            #expect(rename(link, folder.appending("old").string) == 0)
            #expect(symlink(outside.string, link) == 0)
            await #expect(throws: ServiceError.notFound) { try await served.content(of: file.id) }
            await #expect(throws: ServiceError.notFound) { try await served.makeFolder(named: "x", in: directory.id) }
            await #expect(throws: ServiceError.notFound) { try await served.beginUpload(named: "x", in: directory.id) }
            try upload.write(Data([1]))
            _ = try await served.finish(upload, named: "begun", in: directory.id)
            upload.end()
            #expect(try names(in: folder.appending("old")) == ["begun", "f"])
            try await served.delete(file.id)
            await #expect(throws: ServiceError.self) { try await served.delete(directory.id) }
            #expect(try names(in: folder) == ["d", "old"] && names(in: outside) == ["f"])
        }
    }

    @Test func theFolderItselfIsTheOneThatWasThere() async throws {
        try await withFolders { folder, outside, served in
            let moved = FilePath("\(folder).moved")
            #expect(rename(folder.string, moved.string) == 0 && symlink(outside.string, folder.string) == 0)
            _ = try await served.makeFolder(named: "new", in: served.root.id)
            #expect(try names(in: moved) == ["d", "new"] && names(in: outside) == ["f"])
        }
    }

    /// Half a folder would be left, and a client that sends a deletion later would try again for ever.
    @Test func aFolderWithSomethingThatIsNotServedStaysWhole() async throws {
        try await withFolders { folder, _, served in
            let directory = try #require(try await served.items(in: served.root.id).first)
            let inner = try await served.makeFolder(named: "inner", in: directory.id)
            let other = folder.appending("d").appending("inner").appending("other")
            try Data().write(to: URL(fileURLWithPath: other.string))
            let error = await #expect(throws: ServiceError.self) { try await served.delete(directory.id) }
            #expect(error == .badRequest("the folder `inner` has a `other`, which is not served"))
            #expect(try names(in: folder.appending("d")) == ["f", "inner"])
            #expect(try await served.items(in: directory.id).map(\.name) == ["inner", "f"])
            let left = other.removingLastComponent().appending(ServedFiles.Upload.prefix + "1ef7")
            #expect(mkdir(left.string, 0o700) == 0)  // no upload is one
            await #expect(throws: ServiceError.self) { try await served.delete(directory.id) }
            #expect(try names(in: folder.appending("d")) == ["f", "inner"])
            #expect(rmdir(left.string) == 0 && rename(other.string, left.string) == 0)
            try await served.delete(inner.id)
            #expect(try names(in: folder.appending("d")) == ["f"])
            try await served.delete(directory.id)
            #expect(try names(in: folder).isEmpty)
        }
    }

    /// Another file system may be there, into which nothing can be moved.
    @Test func anUploadIsBesideItsTargetFromTheBeginning() async throws {
        try await withFolders { folder, _, served in
            let directory = try #require(try await served.items(in: served.root.id).first)
            let upload = try await served.beginUpload(named: "new", in: directory.id)
            #expect(try names(in: folder) == ["d"])
            #expect(try names(in: folder.appending("d")).contains { $0.hasPrefix(ServedFiles.Upload.prefix) })
            upload.end()
            #expect(try names(in: folder.appending("d")) == ["f"])
        }
    }
}
