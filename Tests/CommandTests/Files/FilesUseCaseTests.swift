// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import TestSupport
import Testing
import Uplink
import UplinkTesting

@testable import UplinkCommand

/// What the use cases send, and what they make of the answers, without a socket.
@Suite(.timeLimit(.minutes(1)))
struct FilesUseCaseTests {
    private let transport = StubTransport()
    private let base = "https://files.example/base"
    private let root = String(decoding: (try? FilesJSON.encode(anItem(1, "a", folder: true))) ?? [], as: UTF8.self)

    private func files() throws -> FilesUseCases {
        try .remote(
            FilesServerURL(base + "/"), as: Credentials(user: "me", password: "a:b"), over: transport)
    }

    @Test func everyRequestCarriesTheCredentialsAndGoesToItsPath() async throws {
        let files = try files()
        let id = itemID(1)
        transport.answer("\(base)/me", .text("{\"firstName\":\"\",\"lastName\":\"\",\"rootItem\":\(root)}"))
        transport.answer(.get, "\(base)/items/\(id)", .text("[\(root)]"))
        transport.answer("\(base)/items/\(id)/data", .text("data"))
        transport.answer(.post, "\(base)/items/\(id)", .text(root, status: .created), .text("[\(root)]"))
        transport.answer(.delete, "\(base)/items/\(id)", .response(.noContent))
        _ = try await files.user()
        #expect(try await files.list(id).items == [anItem(1, "a", folder: true)])
        try await files.read(id, of: nil, progress: nil) { #expect($0 == Array("data".utf8)) }
        _ = try await files.makeFolder(named: "é\r\n", in: id)
        _ = try await files.upload(.bytes([1, 2]), named: "é; \"x\"\r\n", in: id, progress: nil)
        try await files.delete(id)
        #expect(transport.unused.isEmpty)
        let heads = transport.requests.map(\.head)
        #expect(heads.allSatisfy { $0.headerFields[.authorization] == "Basic bWU6YTpi" })
        #expect(heads[3].headerFields[.contentType] ?? transport.requests[3].body.contentType == "application/json")
        #expect(transport.bodies[3] == Array("{\"name\":\"é\\r\\n\"}".utf8))
        #expect(heads[4].headerFields[.contentDisposition] == "attachment;filename*=utf-8''%C3%A9%3B%20%22x%22%0D%0A")
        #expect(transport.bodies[4] == [1, 2])
    }

    /// The answer to the first request is lost, and the second says that there is no such item.
    @Test func whatIsGoneAfterAnEarlierRequestIsDeleted() async throws {
        let (files, url) = (try files(), "\(base)/items/\(itemID(1))")
        let lost = HTTPClientError(
            .connectionReset, phase: .firstByte, requestDisposition: .maybeProcessed, message: "reset")
        transport.answer(.delete, url, .error(lost), .response(.notFound))
        try await files.delete(itemID(1))
        transport.answer(.delete, url, .response(.internalServerError), .response(.notFound))
        try await files.delete(itemID(1))
        #expect(transport.requests.count == 4)
        transport.answer(.delete, url, .response(.notFound))
        await expectError(.notFound) { try await files.delete(itemID(1)) }
        #expect(transport.requests.count == 5)
    }

    /// A stored copy may be waiting to be shown in its place.
    @Test func aDownloadOfWhichNothingComesIsTriedOnce() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        transport.answer("\(base)/items/\(itemID(1))/data", .response(.serviceUnavailable), .text("data"))
        let files = try files()
        await expectError(.serverFailed) {
            try await files.read(
                itemID(1), of: nil, to: directory.path.appending("copy"), replacingExisting: false, progress: nil)
        }
        #expect(transport.requests.count == 1)
        #expect(directory.names.isEmpty)
    }

    @Test(arguments: [
        (401, FilesError.Code.wrongUserOrPassword), (403, .wrongUserOrPassword), (400, .refused), (404, .notFound),
        (500, .serverFailed), (507, .serverFailed), (418, .unexpectedAnswer), (204, .unexpectedAnswer),
    ])
    func aStatusIsAnError(status: Int, code: FilesError.Code) async throws {
        transport.answer("\(base)/me", .text("", status: .init(code: status)))
        do {
            _ = try await files().user()
            Issue.record("no error")
        } catch let error as FilesError {
            #expect(error.code == code)
            let isAboutCredentials = error.message == "wrong user or password"
            #expect(isAboutCredentials == (code == .wrongUserOrPassword))
            #expect(isAboutCredentials || error.message.contains("\(status)"))
        }
    }

    @Test func nothingFollowsARedirect() async throws {
        transport.answer("\(base)/me", .redirect(to: "https://elsewhere.example/me"))
        await expectError(.unexpectedAnswer) { _ = try await files().user() }
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: ["", "<html>", "{}", "[]", "{\"firstName\":\"a\"}"])
    func anAnswerThatWasNotAgreedIsSaidToBe(text: String) async throws {
        transport.answer("\(base)/me", .text(text))
        await expectError(.unexpectedAnswer) { _ = try await files().user() }
    }

    @Test func noConnectionSaysSo() async throws {
        transport.answer("\(base)/me", .error(.init(.connectionFailed, phase: .connect, message: "no connection")))
        let error = await #expect(throws: FilesError.self) { try await files().user() }
        #expect(error?.code == .unreachable && error?.isNetworkFailure == true)
        #expect(error?.message.contains("no connection") == true)
    }

    @Test(arguments: [("a:b", "x"), ("", "x"), ("a", ""), ("a\n", "x"), ("a", "x\r\nY: 1")])
    func whatCannotBeSentIsRefusedWithoutARequest(user: String, password: String) async throws {
        await expectError(.invalidCredentials) {
            _ = try await RemoteLogIn(over: transport)(FilesServerURL(base), user: user, password: password)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func aPasswordIsNeverDescribed() throws {
        let credentials = try Credentials(user: "me", password: "hidden")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), "\([credentials])", dumped] {
            #expect(!text.contains("hidden"), "\(text)")
        }
    }

    @Test(arguments: ["", "ftp://a", "files.example", "http://u:p@a/", "http://a/?q", "http://a b/"])
    func whatIsNoServerIsRefused(text: String) {
        #expect(throws: FilesError.self) { try FilesServerURL(text) }
    }

    @Test func cancellingEndsARequest() async throws {
        transport.answer("\(base)/me", .silence)
        let files = try files()
        let asking = Task { try await files.user() }
        try await eventually("a request") { transport.requests.count == 1 }
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
    }

    @Test func aFileThatIsCutOffIsGoneOnWithByTheSameUser() async throws {
        let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 6\r\n\r\n"
        let rest =
            "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 2-5/6\r\nContent-Length: 4\r\n\r\n"
        let server = try RawServer([.readHead, .send(head + "ab")], [.readHead, .send(rest + "cdef")])
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let progress = Locked<[Int64]>([])
        try await withTransport { transport in
            let files = try FilesUseCases.remote(
                FilesServerURL(server.url("")), as: Credentials(user: "me", password: "a:b"), over: transport)
            let target = directory.path.appending("file")
            try await files.read(itemID(1), of: nil, to: target, replacingExisting: false) { done, _ in
                progress.withLock { $0.append(done) }
            }
        }
        #expect(try directory.read("file") == Array("abcdef".utf8))
        #expect(directory.names == ["file"])
        #expect(server.heads.count == 2 && server.heads.allSatisfy { $0.contains("Authorization: Basic bWU6YTpi\r\n") })
        #expect(server.heads.last?.contains("Range: bytes=2-\r\n") == true)
        #expect(progress.withLock { $0.last == 6 && $0 == $0.sorted() })
    }

    /// The end of the connection is the end of the file only where the listing says so many bytes.
    @Test func aFileThatEndsWithTheConnectionIsHeldAgainstItsListing() async throws {
        let bytes = Locked<[UInt8]>([])
        let head = "HTTP/1.1 200 OK\r\n\r\n"
        func read(_ contents: String..., of size: Int64?, isStreamed: Bool = false) async throws -> [UInt8] {
            let answers = contents.map { RawServer.Step.send(head + $0) }
            let number = Locked(0)
            let server = try RawServer([
                .answer { _ in
                    let turn = number.withLock { number in
                        defer { number += 1 }
                        return number
                    }
                    return [answers[min(turn, answers.count - 1)], .close]
                }
            ])
            defer { server.stop() }
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            try await withTransport { transport in
                let files = try FilesUseCases.remote(
                    FilesServerURL(server.url("")), as: Credentials(user: "me", password: "a"), over: transport)
                if isStreamed {
                    bytes.withLock { $0 = [] }
                    try await files.read(itemID(1), of: size, progress: nil) { piece in
                        bytes.withLock { $0 += piece }
                    }
                } else {
                    let target = directory.path.appending("file")
                    try await files.read(itemID(1), of: size, to: target, replacingExisting: false, progress: nil)
                }
            }
            return try isStreamed ? bytes.withLock { $0 } : directory.read("file")
        }
        #expect(try await read("abcdef", of: 6) == Array("abcdef".utf8))
        #expect(try await read("abcdef", "abc", "abcdef", of: 6) == Array("abcdef".utf8))
        await expectError(.unreachable) { _ = try await read("abcdef", of: 5) }
        await expectError(.unreachable) { _ = try await read("abcdef", of: nil) }
        #expect(try await read("abcdef", of: 6, isStreamed: true) == Array("abcdef".utf8))
        await expectError(.unreachable) { _ = try await read("abc", of: 6, isStreamed: true) }
        #expect(bytes.withLock { $0 } == Array("abc".utf8))
        await expectError(.unreachable) { _ = try await read("abcdef", of: nil, isStreamed: true) }
    }

    @Test func aFileThatHasChangedSinceItWasListedComesAsItIs() async throws {
        transport.answer("\(base)/items/\(itemID(1))/data", .text("changed"))
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let target = directory.path.appending("file")
        try await files().read(itemID(1), of: 3, to: target, replacingExisting: false, progress: nil)
        #expect(try directory.read("file") == Array("changed".utf8))
    }

    @Test func whatADownloadEndsWithIsSaid() throws {
        var missing = DownloadError(.unexpectedStatus, message: "no")
        #expect(FilesError(missing, while: "read").code == .unreachable)
        missing = DownloadError(.diskFull, message: "the disk is full")
        #expect(FilesError(missing, while: "read the file").code == .localFile)
        #expect(FilesError(missing, while: "read the file").message == "could not read the file: the disk is full")
    }

    /// A slash and a mark after it are one character of Swift's.
    @Test func aNameMayBeginWithACombiningMark() {
        #expect(RemotePath("/a/\u{301}b").names == ["a", "\u{301}b"])
        #expect(RemotePath("\u{301}/../a\u{301}/\u{FE0F}").names == ["a\u{301}", "\u{FE0F}"])
    }

    @Test func aPathIsFoundByListing() async throws {
        let inner = anItem(2, "e\u{301}", folder: true, in: itemID(1))
        let files = FilesUseCases.standIn([
            itemID(0): [anItem(1, "a", folder: true)], itemID(1): [inner, anItem(3, "f")],
        ])
        #expect(try await files.item(at: RemotePath("/a/\u{E9}")) == inner)
        #expect(try await files.item(at: RemotePath("/")).id == itemID(0))
        let both = Listing(items: [anItem(2, "e\u{301}"), anItem(3, "\u{E9}")], malformed: 0)
        #expect(both.item(named: "\u{E9}")?.id == itemID(3) && both.item(named: "e\u{301}")?.id == itemID(2))
        await expectError(.notFound) { _ = try await files.item(at: RemotePath("/a/b")) }
        await expectError(.notFound) { _ = try await files.item(at: RemotePath("/a/f/g")) }
    }

    /// What replaces an item is what its name means, unless the server refuses to delete that.
    @Test func aNameIsThatOfWhatWillBeThere() {
        let (old, new) = (anItem(1, "a"), anItem(2, "a"))
        func found(_ changes: [(PendingChange.Kind, Item, PendingChange.State)], among items: [Item]) -> ItemID? {
            let changes = changes.enumerated().map { index, change in
                PendingChange(
                    id: Int64(index), kind: change.0, item: change.1, path: RemotePath("/a"), state: change.2,
                    date: old.modificationDate)
            }
            return Listing(items: items, malformed: 0, changes: changes).item(named: "a")?.id
        }
        let upload = (PendingChange.Kind.upload, new, PendingChange.State.waiting(problem: nil))
        #expect(found([upload], among: [old, new]) == old.id)
        #expect(found([upload], among: [new]) == new.id)
        #expect(found([(.deletion, old, .waiting(problem: nil)), upload], among: [old, new]) == new.id)
        #expect(found([(.deletion, old, .sending), upload], among: [old, new]) == new.id)
        #expect(found([(.deletion, old, .conflict(reason: "no")), upload], among: [old, new]) == old.id)
        #expect(found([(.deletion, old, .waiting(problem: nil))], among: [old]) == old.id)
    }
}
