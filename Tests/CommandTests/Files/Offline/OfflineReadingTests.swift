// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import SystemPackage
import TestSupport
import Testing
import Uplink
import UplinkCore
import UplinkTesting

@testable import UplinkCommand

/// What was read is readable without the server, without a socket.
@Suite(.timeLimit(.minutes(1)))
struct OfflineReadingTests {
    @Test func whatWasReadIsReadableWithItsAge() async throws {
        try await OfflineSite.with { site in
            let folder = try await site.served.makeFolder(named: "naïve; 🐈", in: site.root)
            let file = try await site.put("meow", named: "cat.txt", in: folder.id)
            let online = try await site.files.list(folder.id)
            #expect(online == Listing(items: [file], malformed: 0))
            #expect(try await site.files.item(at: RemotePath("/naïve; 🐈/cat.txt")) == file)
            #expect(site.news.withLock { $0.isEmpty })

            site.be(.unreachable)
            site.wait(.seconds(298))
            let offline = try await site.files.list(folder.id)
            #expect(offline.items == [file] && offline.age == .seconds(300))
            #expect(try await site.files.item(at: RemotePath("/naïve; 🐈/cat.txt")) == file)
            #expect(try await site.files.user().lastName == "B")
            let told = try #require(site.news.withLock { $0.first })
            #expect(
                told == .stored(StoredAnswer(age: .seconds(300), reason: "no way (stub)")))

            site.be(.fine)
            #expect(try await site.files.list(folder.id).source == .server)
        }
    }

    @Test func withoutANetworkNobodyIsAsked() async throws {
        try await OfflineSite.with { site in
            _ = try await site.files.list(site.root)
            let asked = site.requests.withLock { $0 }
            site.performer.behaviour = .timesOut
            #expect(try await site.files.list(site.root).age == .zero)
            #expect(site.requests.withLock { $0 } == asked)
        }
    }

    @Test func whatWasNotReadIsNotThereAndThatIsSaid() async throws {
        try await OfflineSite.with { site in
            let file = try await site.put("x", named: "x")
            site.be(.unreachable)
            await expectError(.unreachable) { _ = try await site.files.list(site.root) }
            await expectError(.unreachable) { _ = try await site.files.user() }
            let error = await #expect(throws: FilesError.self) { _ = try await site.read(file.id) }
            #expect(error?.message.contains("not read before") == true)
        }
    }

    @Test(arguments: [(401, FilesError.Code.wrongUserOrPassword), (404, .notFound), (503, .serverFailed)])
    func aServerThatAnswersIsBelieved(status: Int, code: FilesError.Code) async throws {
        try await OfflineSite.with { site in
            let file = try await site.put("x", named: "x")
            _ = try await (site.files.list(site.root), site.read(file.id))
            site.be(.status(status))
            await expectError(code) { _ = try await site.files.list(site.root) }
            await expectError(code) { _ = try await site.read(file.id) }
            await expectError(code) { _ = try await site.files.makeFolder(named: "a", in: site.root) }
            #expect(try await site.files.pending.list().isEmpty)
        }
    }

    @Test func aStoreThatCannotBeWrittenKeepsNobodyFromReadingAndChanging() async throws {
        try await OfflineSite.with { site in
            let file = try await site.put("x", named: "x")
            try await site.store.write { db in
                for table in ["item", "folder", "user", "content"] {
                    try db.execute(
                        sql:
                            "CREATE TRIGGER no_\(table) BEFORE INSERT ON \(table) BEGIN SELECT RAISE(FAIL, 'full'); END"
                    )
                }
            }
            #expect(try await site.files.user().firstName == "A")
            #expect(try await site.files.list(site.root) == Listing(items: [file], malformed: 0))
            #expect(try await site.read(file.id) == "x")
            _ = try await site.files.makeFolder(named: "a", in: site.root)
            #expect(try await site.served.items(in: site.root).map(\.name) == ["a", "x"])
        }
    }

    @Test func whoSharesAnAnswerThatCannotBeKeptIsAnsweredToo() async throws {
        try await OfflineSite.with { site in
            _ = try await site.put("x", named: "x")
            try await site.store.write { db in
                try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON item BEGIN SELECT RAISE(FAIL, 'full'); END")
            }
            let (gate, opened) = AsyncStream.makeStream(of: Void.self)
            let entered = Locked(0)
            let remote = StandInListFolder { folder in
                let number = entered.withLock { entered in
                    entered += 1
                    return entered
                }
                if number == 1 { for await _ in gate {} }
                return Listing(items: try await site.served.items(in: folder), malformed: 0)
            }
            let root = try await site.root
            let lists = (0..<10).map { _ in Task { try await site.store.listing(of: root, from: remote) } }
            try await eventually { entered.withLock { $0 } == 1 }
            for _ in 0..<1000 { await Task.yield() }  // the others join
            opened.finish()
            for list in lists { #expect(try await list.value.items.map(\.name) == ["x"]) }
        }
    }

    @Test func whatWasUnreachableIsNotAskedForAMoment() async throws {
        try await OfflineSite.with { site in
            _ = try await site.files.list(site.root)
            site.be(.unreachable)
            let asked = site.requests.withLock { $0 }
            for _ in 0..<3 { _ = try await site.files.list(site.root) }
            #expect(site.requests.withLock { $0 } == asked + 1)
            site.wait()
            _ = try await site.files.list(site.root)
            #expect(site.requests.withLock { $0 } == asked + 2)
        }
    }

    @Test func aListingIsReplacedAsAWhole() async throws {
        try await OfflineSite.with { site in
            let first = try await site.put("1", named: "1")
            _ = try await site.files.list(site.root)
            try await site.served.delete(first.id)
            let second = try await site.put("2", named: "2")
            _ = try await site.files.list(site.root)
            site.be(.unreachable)
            #expect(try await site.files.list(site.root).items == [second])
        }
    }

    @Test func listingsAreLimitedAndTheOldestGoes() async throws {
        try await OfflineSite.with(OfflineLimits(items: 4)) { site in
            let folders = try await [
                site.served.makeFolder(named: "a", in: site.root), site.served.makeFolder(named: "b", in: site.root),
            ]
            for folder in folders {
                for name in ["1", "2"] { _ = try await site.put(name, named: name, in: folder.id) }
                _ = try await site.files.list(folder.id)
                site.wait()
            }
            _ = try await site.files.list(site.root)
            site.be(.unreachable)
            await expectError(.unreachable) { _ = try await site.files.list(folders[0].id) }
            #expect(try await site.files.list(folders[1].id).items.count == 2)
            #expect(try await site.files.list(site.root).items.map(\.id) == folders.map(\.id))
        }
    }

    @Test func contentsAreKeptUpToLimitsAndTheLongestUnusedGoes() async throws {
        try await OfflineSite.with(OfflineLimits(content: 4, contents: 8)) { site in
            let files = try await [
                site.put("aaaa", named: "a"), site.put("bbbb", named: "b"), site.put("c", named: "c"),
                site.put("ddddd", named: "d"), site.put("", named: "e"),
            ]
            for file in files[0...1] {
                _ = try await site.read(file.id)
                site.wait()
            }
            #expect(try await site.read(files[0].id) == "aaaa")  // so that the other one is the oldest
            site.wait()
            for file in files[2...] { _ = try await site.read(file.id) }
            #expect(try site.contents.count == 3)

            site.be(.unreachable)
            for (file, text) in [(files[0], "aaaa"), (files[2], "c"), (files[4], "")] {
                #expect(try await site.read(file.id) == text)
            }
            let evicted = await #expect(throws: FilesError.self) { _ = try await site.read(files[1].id) }
            #expect(evicted?.message.contains("not read before") == true)
            let large = await #expect(throws: FilesError.self) { _ = try await site.read(files[3].id) }
            #expect(large?.message.contains("it has 5 bytes, and 4 bytes of a file are kept") == true)
        }
    }

    @Test func aFileThatWasReadCanBeSavedWithoutTheServer() async throws {
        try await OfflineSite.with { site in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let file = try await site.put("meow", named: "cat")
            _ = try await site.read(file.id)
            site.be(.unreachable)
            site.wait(.seconds(58))
            let target = directory.path.appending("copy")
            try await site.files.read(file.id, of: 4, to: target, replacingExisting: false, progress: nil)
            #expect(try directory.read("copy") == Array("meow".utf8))
            await expectError(.localFile) {
                try await site.files.read(file.id, of: 4, to: target, replacingExisting: false, progress: nil)
            }
            chmod(target.string, 0o600)
            try await site.files.read(file.id, of: 4, to: target, replacingExisting: true, progress: nil)
            var status = stat()
            #expect(stat(target.string, &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(directory.names == ["copy"])
            #expect(symlink("copy", directory.path.appending("link").string) == 0)
            await expectError(.localFile) {
                try await site.files.read(
                    file.id, of: 4, to: directory.path.appending("link"), replacingExisting: true, progress: nil)
            }
            #expect(directory.names == ["copy", "link"])
            let told = StoredAnswer(age: .seconds(60), reason: "no way (stub)")
            #expect(site.news.withLock { $0.contains(.stored(told)) })
        }
    }

    /// Whoever is killed meanwhile leaves nothing behind.
    @Test(.enabled("the file system has files without names") { hasUnnamedFiles })
    func aFileThatIsBeingSavedHasNoName() async throws {
        try await OfflineSite.with { site in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let file = try await site.put("meow", named: "cat")
            _ = try await site.read(file.id)
            site.be(.unreachable)
            let seen = Locked<[[String]]>([])
            for replaces in [false, true] {
                let target = directory.path.appending("copy")
                try await site.files.read(file.id, of: 4, to: target, replacingExisting: replaces) { _, _ in
                    seen.withLock { $0.append(directory.names) }
                }
                #expect(directory.names == ["copy"])
            }
            #expect(seen.withLock { $0 } == [[], ["copy"]])
        }
    }

    private static var hasUnnamedFiles: Bool {
        let descriptor = open("/tmp", 0o20_000_000 | O_DIRECTORY | O_WRONLY | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    @Test(arguments: [true, false])
    func aSavedFileReplacesOnlyWhatItMay(isUnnamed: Bool) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let target = directory.path.appending("copy")
        func save(_ text: String, replacing: Bool, meanwhile: () throws -> Void = {}) async throws {
            let file = try SavedFile(target, replacingExisting: replacing, isUnnamed: isUnnamed)
            try await file.write(Array(text.utf8))
            try meanwhile()
            try file.finish()
        }
        await expectError(.localFile) {
            try await save("1", replacing: false) { try directory.write("copy", Array("other".utf8)) }
        }
        #expect(try directory.read("copy") == Array("other".utf8))
        await expectError(.localFile) { try await save("2", replacing: false) }
        chmod(target.string, 0o640)
        try await save("3", replacing: true)
        #expect(try directory.read("copy") == Array("3".utf8) && directory.permissions(of: "copy")?.rawValue == 0o640)
        #expect(directory.names == ["copy"])
        #expect(unlink(target.string) == 0)
        try await save("4", replacing: true)
        #expect(try directory.read("copy") == Array("4".utf8) && directory.names == ["copy"])
        await expectError(.localFile) { _ = try SavedFile("/nowhere/at/all", replacingExisting: false) }
    }

    @Test func aContentIsReplacedByANewerOne() async throws {
        try await OfflineSite.with { site in
            let file = try await site.put("old", named: "x")
            _ = try await site.read(file.id)
            try await site.served.delete(file.id)
            _ = try await site.put("new", named: "x")  // has the same id
            #expect(try await site.read(file.id) == "new")
            #expect(try site.contents.count == 1)
            try await site.files.delete(file.id)
            #expect(try site.contents.isEmpty)
        }
    }
}
#endif
