// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import SystemPackage
import TestSupport
import Testing
import Uplink
import UplinkCore
import UplinkStore
import UplinkTesting

@testable import UplinkCommand

/// What is changed without the server waits, and is sent at least once, without a socket.
@Suite(.timeLimit(.minutes(1)))
struct OfflineChangingTests {
    @Test func whatWaitsIsShownAndSentInOrder() async throws {
        try await OfflineSite.with { site in
            let old = try await site.put("old", named: "old")
            _ = try await site.files.item(at: RemotePath("/old"))
            site.be(.unreachable)
            let folder = try await site.files.makeFolder(named: "new", in: site.root)
            let inner = try await site.files.makeFolder(named: "inner", in: folder.id)
            let file = try await site.files.upload(
                .bytes(Array("meow".utf8)), named: "cat", in: inner.id, progress: nil)
            try await site.files.delete(old.id)
            try await site.files.delete(old.id)  // says no more than the first

            let listing = try await site.files.list(site.root)
            #expect(listing.items.map(\.name) == ["new", "old"])
            #expect(listing.items.map { listing.change(of: $0)?.kind } == [.newFolder, .deletion])
            #expect(try await site.files.item(at: RemotePath("/new/inner/cat")) == file)
            #expect(try await site.read(file.id) == "meow")
            let pending = try await site.files.pending.list()
            #expect(pending.map(\.path.description) == ["/new", "/new/inner", "/new/inner/cat", "/old"])
            #expect(pending.allSatisfy { $0.state == .waiting(problem: nil) })

            site.be(.fine)
            #expect(try await site.files.list(site.root).changes.count == 2)  // shown until they are sent
            let outcome = try await site.send()
            #expect(outcome == SentChanges(sent: pending, left: []))
            #expect(try site.uploads.isEmpty)
            let sent = try await site.files.item(at: RemotePath("/new/inner/cat"))
            #expect(try await site.text(of: sent.id) == "meow")
            #expect(try await site.served.items(in: site.root).map(\.name) == ["new"])
            // Whoever still has the ids of before can use them.
            #expect(try await site.files.list(inner.id).items == [sent])
            #expect(try await site.read(file.id) == "meow")
            #expect(try await site.files.list(site.root).changes.isEmpty)
        }
    }

    @Test func aCopyIsUploadedWhateverBecomesOfTheOriginal() async throws {
        try await OfflineSite.with { site in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            try directory.write("x", Array("first".utf8))
            site.be(.unreachable)
            let path = directory.path.appending("x")
            _ = try await site.files.upload(.file(path), named: "x", in: site.root, progress: nil)
            try directory.write("x", Array("second".utf8))
            let (pieces, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self)
            for piece in ["a", "b"] { continuation.yield(Array(piece.utf8)) }
            continuation.finish()
            _ = try await site.files.upload(.pieces(pieces), named: "y", in: site.root, progress: nil)
            site.be(.fine)
            #expect(try await site.send().left.isEmpty)
            let items = try await site.served.items(in: site.root)
            #expect(try await site.text(of: items[0].id) == "first")
            #expect(try await site.text(of: items[1].id) == "ab")
        }
    }

    /// SQLite does not tell of it, and who sends would wait for it without ever sending it.
    @Test(arguments: [Duration.zero, .seconds(60)])
    func whatAnotherProcessKeepsMeanwhileIsSentToo(limit: Duration) async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            _ = try await site.files.makeFolder(named: "a", in: site.root)
            site.be(.fine)
            var remote = site.remote
            remote.makeFolder = StandInMakeFolder { name, folder in
                if name == "a" { try await site.keepAsAnotherProcess(name: "b") }
                return try await site.remote.makeFolder(named: name, in: folder)
            }
            let files = remote.stored(in: site.store, clock: ManualClock())
            let outcome = try await files.pending.send(within: limit)
            #expect(outcome.sent.map(\.item.name) == ["a"] && outcome.left.isEmpty)
            #expect(try await site.served.items(in: site.root).map(\.name) == ["a", "b"])
        }
    }

    @Test func wrongCredentialsKeepWhatWaits() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            _ = try await site.files.makeFolder(named: "a", in: site.root)
            site.be(.status(401))
            #expect(try await site.send().left.map(\.state) == [.waiting(problem: "wrong user or password")])
            site.be(.fine)
            #expect(try await site.send().left.isEmpty)
        }
    }

    @Test func aStoreThatCannotNoteWhatWasSentIsTold() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            _ = try await site.files.makeFolder(named: "a", in: site.root)
            site.be(.fine)
            try await site.store.write { db in
                try db.execute(
                    sql: "CREATE TRIGGER full BEFORE DELETE ON uplink_outbox BEGIN SELECT RAISE(FAIL, 'full'); END")
            }
            let outcome = try await site.send()
            #expect(outcome.problem?.contains("full") == true && outcome.sent.isEmpty && outcome.left.count == 1)
        }
    }

    @Test func whatIsStillToBeMadeIsGivenUpByDeletingIt() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            let folder = try await site.files.makeFolder(named: "a", in: site.root)
            _ = try await site.files.upload(.bytes([1]), named: "in", in: folder.id, progress: nil)
            #expect(try site.uploads.count == 1)
            try await site.files.delete(folder.id)
            #expect(try await site.files.pending.list().isEmpty)
            #expect(try site.uploads.isEmpty)
        }
    }

    @Test func whatTheServerWouldRefuseDoesNotWait() async throws {
        try await OfflineSite.with(OfflineLimits(upload: 4, uploads: 6)) { site in
            let old = try await site.put("x", named: "old")
            _ = try await site.files.list(site.root)
            site.be(.unreachable)
            for name in ["", "a/b", "a\r\nb", "old"] {
                await expectError(.refused) { _ = try await site.files.makeFolder(named: name, in: site.root) }
            }
            _ = try await site.files.upload(.bytes([1, 2, 3, 4]), named: "new", in: site.root, progress: nil)
            await expectError(.refused) { _ = try await site.files.makeFolder(named: "new", in: site.root) }
            await expectError(.localFile) {  // larger than one may be
                let source = UploadSource.bytes([1, 2, 3, 4, 5])
                _ = try await site.files.upload(source, named: "five", in: site.root, progress: nil)
            }
            await expectError(.localFile) {  // more than all may be
                _ = try await site.files.upload(.bytes([1, 2, 3]), named: "three", in: site.root, progress: nil)
            }
            #expect(try site.uploads.count == 1)
            try await site.files.delete(old.id)
            _ = try await site.files.makeFolder(named: "old", in: site.root)  // after the deletion
            site.be(.fine)
            #expect(try await site.send().left.isEmpty)
            #expect(try await site.files.item(at: RemotePath("/old")).isFolder)
        }
    }

    /// The folder is made, or given up, while what is to go into it is copied.
    @Test func whatIsKeptForAFolderThatHasJustBeenMadeGoesThere() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            let folder = try await site.files.makeFolder(named: "a", in: site.root)
            let other = try await site.files.makeFolder(named: "b", in: site.root)
            #expect(folder.id.isOwn && other.id.isOwn)
            site.be(.fine)
            try await site.files.delete(other.id)
            #expect(try await site.send().left.isEmpty)
            _ = try await site.store.keep(named: "in", in: folder.id, because: "a test")
            await expectError(.notFound) {
                _ = try await site.store.keep(named: "in", in: other.id, because: "a test")
            }
            #expect(try await site.send().left.isEmpty)
            #expect(try await site.files.item(at: RemotePath("/a/in")).isFolder)
        }
    }

    @Test func whatGoesIntoAFolderThatHasBeenMadeComesAfterWhatWaitsForIt() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            let folder = try await site.files.makeFolder(named: "a", in: site.root)
            _ = try await site.files.upload(.bytes([1]), named: "first", in: folder.id, progress: nil)
            site.be(.fine)
            var remote = site.remote
            remote.upload = StandInUploadFile { _, _, _ in throw FilesError(status: 503, while: "upload") }
            _ = try await remote.stored(in: site.store, clock: ManualClock()).pending.send(within: .zero)
            site.be(.unreachable)
            _ = try await site.files.upload(.bytes([2]), named: "second", in: folder.id, progress: nil)
            let keys = try await site.store.outbox.entries().map(\.key)
            #expect(keys.count == 2 && keys[0] == keys[1])
        }
    }

    @Test func aFolderIsNotDeletedWhileSomethingWaitsToGoIntoIt() async throws {
        try await OfflineSite.with { site in
            let folder = try await site.files.makeFolder(named: "a", in: site.root)
            let inner = try await site.files.makeFolder(named: "b", in: folder.id)
            for place in [try await site.root, folder.id] { _ = try await site.files.list(place) }
            site.be(.unreachable)
            let file = try await site.files.upload(.bytes([1]), named: "in", in: inner.id, progress: nil)
            await expectError(.refused) { try await site.files.delete(folder.id) }
            try await site.files.delete(file.id)
            try await site.files.delete(folder.id)
            site.be(.fine)
            #expect(try await site.send().left.isEmpty)
            #expect(try await site.served.items(in: site.root).isEmpty)
        }
    }

    @Test func changesCanBeFollowed() async throws {
        try await OfflineSite.with { site in
            let seen = Locked<[[String]]>([])
            let files = site.files
            let following = Task {
                for await changes in files.pending.follow() {
                    seen.withLock { $0.append(changes.map(\.item.name)) }
                }
            }
            try await eventually { seen.withLock { $0.last == [] } }
            site.be(.unreachable)
            _ = try await files.makeFolder(named: "a", in: site.root)
            try await eventually { seen.withLock { $0.last == ["a"] } }
            site.be(.fine)
            _ = try await site.send()
            try await eventually { seen.withLock { $0.last == [] } }
            following.cancel()
            await following.value
        }
    }

    @Test func whatIsTold() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            _ = try await site.files.makeFolder(named: "a", in: site.root)
            _ = try await site.files.makeFolder(named: "b", in: site.root)
            _ = try await site.put("file", named: "b")
            site.be(.fine)
            _ = try await site.send()
            try await eventually { site.news.withLock { $0.count == 4 } }
            let words = site.news.withLock { $0 }.map { news in
                switch news {
                case .stored: "stored"
                case .waits(let change): "waits \(change.words)"
                case .sent(let change): "sent \(change.words)"
                case .conflict(let change): "conflict \(change.words)"
                }
            }
            #expect(
                words == ["waits new folder /a", "waits new folder /b", "sent new folder /a", "conflict new folder /b"])
        }
    }
}
#endif
