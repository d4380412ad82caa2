// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import TestSupport
import Testing
import UplinkStore

@testable import UplinkCommand

/// A folder whose deletion waits goes with what was known to be in it, and with nothing else.
@Suite(.timeLimit(.minutes(1)))
struct OfflineFolderDeletionTests {
    /// A server with `/a/b/c` and a file in each, of which the first folders have been looked into before `/a` was
    /// deleted.
    private static func deleted(
        listing known: Int, _ body: (_ site: OfflineSite, _ folders: [Item]) async throws -> Void
    ) async throws {
        try await OfflineSite.with { site in
            var folders: [Item] = []
            var place = try await site.root
            for name in ["a", "b", "c"] {
                let folder = try await site.served.makeFolder(named: name, in: place)
                _ = try await site.put("old", named: "old", in: folder.id)
                place = folder.id
                folders.append(folder)
            }
            _ = try await site.files.list(site.root)
            for folder in folders.prefix(known) { _ = try await site.files.list(folder.id) }
            site.be(.unreachable)
            try await site.files.delete(folders[0].id)
            site.be(.fine)
            try await body(site, folders)
        }
    }

    @Test(arguments: 0...3) func whatWasKnownGoesHoweverDeepTheUserHasLooked(known: Int) async throws {
        try await Self.deleted(listing: known) { site, _ in
            let left = try await site.send().left
            #expect(left.isEmpty)
            #expect(try await site.served.items(in: site.root).isEmpty)
            #expect(try await site.store.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM doomed") } == 0)
        }
    }

    /// In a folder that was never looked into, only its date tells, which is that of what is in itself.
    @Test(arguments: [(0, 0), (1, 0), (1, 1), (2, 1), (3, 0), (3, 1), (3, 2)])
    func whatAnotherHasPutThereSinceStaysWithTheFolder(known: Int, place: Int) async throws {
        try await Self.deleted(listing: known) { site, folders in
            _ = try await site.put("important", named: "new", in: folders[place].id)
            let left = try await site.send().left
            #expect(left.map(\.isConflict) == [true])
            let path = folders[...place].map(\.name).joined(separator: "/")
            let surprise = known > place ? "`\(path)/new` is new since" : "`\(path)` has changed since"
            #expect(left.first?.reason?.hasPrefix(surprise) == true, "\(left)")
            #expect(try await site.served.items(in: folders[place].id).contains { $0.name == "new" })
            _ = try await site.files.list(folders[place].id)
            try await site.files.pending.retry(left[0].id)  // which does not make it known
            #expect(try await site.send().left.map(\.isConflict) == [true])
        }
    }

    @Test func aFolderOfTheSameNameAndIDIsNotTheOneThatWasDeleted() async throws {
        try await Self.deleted(listing: 3) { site, folders in
            try await site.served.delete(folders[0].id)
            let again = try await site.served.makeFolder(named: "a", in: site.root)
            #expect(again.id == folders[0].id)
            _ = try await site.put("important", named: "old", in: again.id)
            #expect(try await site.send().left.first?.reason?.hasPrefix("`a/old` has changed since") == true)
            #expect(try await site.served.items(in: again.id).count == 1)
        }
    }

    @Test func whatCannotBeReadMayBeAnyones() async throws {
        try await Self.deleted(listing: 3) { site, folders in
            let new = try await site.put("important", named: "new", in: folders[1].id)
            site.malformed.withLock { $0 = [new.id] }
            #expect(try await site.send().left.first?.reason?.contains("cannot be read") == true)
            #expect(try await site.served.items(in: folders[1].id).contains(new))
        }
    }

    /// What this user has made there is known, whether or not the folder was looked at since.
    @Test func whatTheUserHasMadeThereIsKnown() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            let folder = try await site.files.makeFolder(named: "a", in: site.root)
            _ = try await site.files.upload(.bytes([1]), named: "mine", in: folder.id, progress: nil)
            site.be(.fine)
            #expect(try await site.send().left.isEmpty)
            let made = try #require(try await site.files.list(site.root).items.first)
            _ = try await site.files.upload(.bytes([1]), named: "too", in: made.id, progress: nil)
            site.be(.unreachable)
            try await site.files.delete(made.id)
            site.be(.fine)
            #expect(try await site.send().left.isEmpty)
            #expect(try await site.served.items(in: site.root).isEmpty)
        }
    }

    @Test func aFolderWithoutTheServersAnswerStays() async throws {
        try await Self.deleted(listing: 3) { site, _ in
            site.be(.status(503))
            let left = try await site.send().left
            #expect(left.map(\.isConflict) == [false])
            site.be(.fine)
            #expect(try await site.send().left.isEmpty)
        }
    }
}
#endif
