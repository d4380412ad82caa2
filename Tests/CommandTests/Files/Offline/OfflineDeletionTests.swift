// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import TestSupport
import Testing
import Uplink
import UplinkCore
import UplinkStore
import UplinkStoreTesting
import UplinkTesting

@testable import UplinkCommand

/// What is given up or deleted while it waits, without a socket.
@Suite(.timeLimit(.minutes(1)))
struct OfflineDeletionTests {
    private func lastWords(_ site: OfflineSite) -> String? {
        guard case .waits(let change) = site.news.withLock({ $0.last }) else { return nil }
        return "\(change.id) \(change.words)"
    }

    @Test func aDeletionThatWaitsIsToldOnceMore() async throws {
        try await OfflineSite.with { site in
            let item = try await site.put("x", named: "x")
            _ = try await site.files.list(site.root)
            site.be(.unreachable)
            for _ in 0..<2 {
                try await site.files.delete(item.id)
                #expect(lastWords(site) == "1 deletion of /x")
                site.news.withLock { $0 = [] }
            }
            #expect(try await site.files.pending.list().count == 1)
        }
    }

    @Test func anItemThatCannotBeReadIsNotTakenForOneThatIsGone() async throws {
        try await OfflineSite.with { site in
            let item = try await site.put("x", named: "x")
            _ = try await site.files.list(site.root)
            site.be(.unreachable)
            try await site.files.delete(item.id)
            site.malformed.withLock { $0 = [item.id] }
            site.be(.fine)
            let outcome = try await site.send()
            #expect(outcome.sent.isEmpty)
            #expect(outcome.left.map(\.isConflict) == [true])
            #expect(try await site.served.items(in: site.root).map(\.id) == [item.id])
        }
    }

    @Test func aDeletionThatWasRefusedIsWantedAnew() async throws {
        try await OfflineSite.with { site in
            let item = try await site.refusedDeletion()
            _ = try await site.files.list(site.root)  // as it is now
            site.be(.unreachable)
            site.news.withLock { $0 = [] }
            try await site.files.delete(item.id)
            #expect(lastWords(site) == "2 deletion of /x")
            #expect(try await site.files.pending.list().map(\.state) == [.waiting(problem: nil)])
            site.be(.fine)
            #expect(try await site.send().left.isEmpty)
            #expect(try await site.served.items(in: site.root).isEmpty)
        }
    }

    @Test func aDeletionThatWasRefusedStaysWhereTheNewOneCannotBeKept() async throws {
        try await OfflineSite.with { site in
            let item = try await site.refusedDeletion()
            _ = try await site.files.list(site.root)
            site.be(.unreachable)
            try await site.store.write { db in
                try db.execute(
                    sql: "CREATE TRIGGER full BEFORE INSERT ON change BEGIN SELECT RAISE(FAIL, 'full'); END")
            }
            await expectError(.localFile) { try await site.files.delete(item.id) }
            #expect(try await site.files.pending.list().map(\.isConflict) == [true])
            #expect(try await site.store.outbox.entries().map(\.isFailed) == [true])
        }
    }

    @Test func aDeletionThatWasRefusedIsOverWhenTheItemIsDeleted() async throws {
        try await OfflineSite.with { site in
            let item = try await site.refusedDeletion()
            try await site.files.delete(item.id)
            #expect(try await site.files.pending.list().isEmpty)
        }
    }

    /// As when another process keeps it after this one has looked.
    @Test func aFolderIsNotGivenUpWithoutWhatIsToGoIntoIt() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            let folder = try await site.files.makeFolder(named: "a", in: site.root)
            _ = try await site.files.upload(.bytes([1]), named: "in", in: folder.id, progress: nil)
            await expectError(.refused) { try await site.store.discard([1]) }
            #expect(try await site.files.pending.list().count == 2)
        }
    }

    /// It would be deleted with the folder, whether or not the server is reached, and be told to be sent before that.
    @Test func nothingGoesIntoAFolderThatIsToBeDeleted() async throws {
        try await OfflineSite.with { site in
            let folder = try await site.served.makeFolder(named: "a", in: site.root)
            let inner = try await site.served.makeFolder(named: "b", in: folder.id)
            for place in [try await site.root, folder.id] { _ = try await site.files.list(place) }
            site.be(.unreachable)
            try await site.files.delete(folder.id)
            for weather in [OfflineSite.Weather.unreachable, .fine] {
                site.be(weather)
                for place in [folder.id, inner.id] {
                    let error = await #expect(throws: FilesError.self) {
                        _ = try await site.files.upload(.bytes([1]), named: "in", in: place, progress: nil)
                    }
                    #expect(error?.code == .refused)
                    #expect(error?.message.contains("`a`, change 1,") == true)
                    await expectError(.refused) { _ = try await site.files.makeFolder(named: "c", in: place) }
                }
            }
            #expect(try await site.files.pending.list().map(\.kind) == [.deletion])
            #expect(try site.uploads.isEmpty)
            try await site.files.pending.discard(1)
            _ = try await site.files.upload(.bytes([1]), named: "in", in: inner.id, progress: nil)
        }
    }

    /// As when another process keeps the deletion while this one copies what is to be uploaded.
    @Test func whatIsCopiedMeanwhileDoesNotGoThereEither() async throws {
        try await OfflineSite.with { site in
            let folder = try await site.served.makeFolder(named: "a", in: site.root)
            _ = try await site.files.list(site.root)
            site.be(.unreachable)
            try await site.files.delete(folder.id)
            await expectError(.refused) { _ = try await site.store.keep(named: "in", in: folder.id, because: "a test") }
            #expect(try await site.files.pending.list().map(\.kind) == [.deletion])
        }
    }

    /// As an earlier version may have left it.
    @Test func aDeletionIsGivenUpThoughSomethingIsToGoIntoTheFolder() async throws {
        try await OfflineSite.with { site in
            let folder = try await site.served.makeFolder(named: "a", in: site.root)
            let other = try await site.served.makeFolder(named: "b", in: site.root)
            _ = try await site.files.list(site.root)
            site.be(.unreachable)
            try await site.files.delete(other.id)
            _ = try await site.files.upload(.bytes([1]), named: "in", in: folder.id, progress: nil)
            try await site.store.write { db in
                try db.execute(sql: "UPDATE change SET id = ? WHERE entry = 1", arguments: [folder.id.text])
            }
            try await site.files.pending.discard(1)
            #expect(try await site.files.pending.list().map(\.kind) == [.upload])
        }
    }

    /// One of what is to go into a folder is being sent: all stays.
    @Test func aFolderIsGivenUpWithAllThatIsToGoIntoItOrNotAtAll() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            let folder = try await site.files.makeFolder(named: "a", in: site.root)
            _ = try await site.files.upload(.bytes([1]), named: "in", in: folder.id, progress: nil)
            let entries = try await site.store.outbox.entries()
            try await site.store.write { db in  // so that another one comes first
                try db.execute(sql: "UPDATE uplink_outbox SET isFailed = 1 WHERE id = ?", arguments: [entries[0].id])
            }
            let gate = StubOutboxHandler(.tryAgain(reason: "a test"))
            gate.hold()
            let run = Task { try await site.store.outbox.run { try await gate($0) } }
            try await eventually { gate.running == 1 }
            await expectError(.busy) { try await site.files.delete(folder.id) }
            #expect(try await site.files.pending.list().count == 2)
            #expect(try site.uploads.count == 1)
            gate.release()
            run.cancel()
            _ = await run.result
            try await site.files.delete(folder.id)
            #expect(try await site.files.pending.list().isEmpty)
            #expect(try site.uploads.isEmpty)
        }
    }

    /// One change takes another one's place at once: what the outbox counts stays the same.
    @Test func aChangeThatTakesAnothersPlaceIsFollowed() async throws {
        try await OfflineSite.with { site in
            let seen = Locked<[String]>([])
            let files = site.files
            let following = Task {
                for await changes in files.pending.follow() {
                    seen.withLock { $0 = changes.map(\.item.name) }
                }
            }
            site.be(.unreachable)
            _ = try await files.makeFolder(named: "a", in: site.root)
            try await eventually { seen.withLock { $0 } == ["a"] }
            let outbox = site.store.outbox
            try await site.store.write { db in
                guard var row = try ChangeRow.fetchOne(db) else { return }
                try row.delete(db)
                try db.execute(sql: "DELETE FROM uplink_outbox")
                (row.name, row.id) = ("b", ItemID.random().text)
                row.entry = try outbox.enqueue(
                    key: row.key, kind: row.kind.rawValue, payload: Data(row.id.utf8), in: db
                ).id
                try row.insert(db)
            }
            try await eventually { seen.withLock { $0 } == ["b"] }
            following.cancel()
            await following.value
        }
    }
}
#endif
