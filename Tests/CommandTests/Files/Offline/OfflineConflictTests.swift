// SPDX-License-Identifier: Apache-2.0
#if Store
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkStore

@testable import UplinkCommand

/// What the server will not have as it was changed here is a conflict, which waits for the user, and nothing else is.
@Suite(.timeLimit(.minutes(1)))
struct OfflineConflictTests {
    @Test func aNameThatIsTakenIsAConflictThatCanBeRetriedOrDiscarded() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            for (name, text) in [("a", "mine"), ("b", "mine")] {
                _ = try await site.files.upload(.bytes(Array(text.utf8)), named: name, in: site.root, progress: nil)
            }
            _ = try await site.files.makeFolder(named: "c", in: site.root)
            let others = try await [
                site.put("your", named: "a"), site.put("longer", named: "b"), site.put("file", named: "c"),
            ]
            site.be(.fine)
            let left = try await site.send().left
            #expect(left.count == 3 && left.allSatisfy(\.isConflict))
            #expect(try site.uploads.count == 2)
            let listing = try await site.files.list(site.root)
            #expect(listing.items.count == 6 && listing.changes.count == 3)
            #expect(try await site.files.item(at: RemotePath("/a")) == others[0])
            #expect(try await site.send() == SentChanges(sent: [], left: left))  // not again by itself

            try await site.served.delete(others[0].id)
            try await site.files.pending.retry(left[0].id)
            #expect(try await site.send().sent.map(\.item.name) == ["a"])
            try await site.files.pending.discard(left[1].id)
            #expect(try site.uploads.isEmpty)
            try await site.files.pending.discard(left[2].id)
            #expect(try await site.files.pending.list().isEmpty)
            #expect(try await site.text(of: others[0].id) == "mine")
            await expectError(.notFound) { try await site.files.pending.discard(left[1].id) }
            await expectError(.notFound) { try await site.files.pending.retry(left[1].id) }
        }
    }

    /// Otherwise something else than what was to be uploaded would be, and be gone here.
    @Test func aCopyThatSomebodyHasChangedIsNotSent() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            _ = try await site.files.upload(.bytes([1, 2, 3]), named: "x", in: site.root, progress: nil)
            let copy = site.directory.uploads.appending(try #require(try site.uploads.first))
            #expect(truncate(copy.string, 1) == 0)
            site.be(.fine)
            let left = try await site.send().left
            #expect(left.count == 1 && left.first?.isConflict == true)
            #expect(left.first?.reason?.contains(copy.string) == true)
            #expect(try await site.served.items(in: site.root).isEmpty)
            #expect(try site.uploads.count == 1)
        }
    }

    @Test func whatGoesIntoAFolderThatIsGoneIsAConflict() async throws {
        try await OfflineSite.with { site in
            let folder = try await site.files.makeFolder(named: "a", in: site.root)
            let file = try await site.put("x", named: "x")
            _ = try await site.files.list(site.root)
            site.be(.unreachable)
            _ = try await site.files.upload(.bytes([1]), named: "in", in: folder.id, progress: nil)
            try await site.files.delete(file.id)
            for item in [folder, file] { try await site.served.delete(item.id) }
            site.be(.fine)
            let outcome = try await site.send()
            #expect(outcome.sent.map(\.item.name) == ["x"])  // is gone, as it was to be
            #expect(outcome.left.map(\.item.name) == ["in"])
            #expect(outcome.left.first?.reason?.contains("gone") == true)
        }
    }

    @Test func whatGoesIntoAFolderThatIsAConflictWaitsForIt() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            let folder = try await site.files.makeFolder(named: "a", in: site.root)
            _ = try await site.files.upload(.bytes([1]), named: "in", in: folder.id, progress: nil)
            let other = try await site.put("file", named: "a")
            site.be(.fine)
            let left = try await site.send().left
            #expect(left.count == 2 && left.allSatisfy(\.isConflict))
            await expectError(.refused) { try await site.files.pending.discard(left[0].id) }
            try await site.served.delete(other.id)
            try await site.files.pending.retry(left[0].id)  // takes along what is to go into it
            #expect(try await site.send().left.isEmpty)
            #expect(try await site.files.item(at: RemotePath("/a/in")).size == 1)
        }
    }

    @Test func anAnswerThatWasLostIsNoConflict() async throws {
        try await OfflineSite.with { site in
            let old = try await site.put("old", named: "old")
            _ = try await site.files.list(site.root)
            site.be(.answersAreLost)
            _ = try await site.files.makeFolder(named: "folder", in: site.root)
            site.wait()
            _ = try await site.files.upload(.bytes(Array("meow".utf8)), named: "cat", in: site.root, progress: nil)
            site.wait()
            try await site.files.delete(old.id)
            #expect(try await site.served.items(in: site.root).count == 2)
            site.wait()
            _ = try await site.send()
            site.be(.fine)
            let outcome = try await site.send()
            #expect(outcome.sent.count == 3 && outcome.left.isEmpty)
            #expect(try await site.served.items(in: site.root).map(\.name) == ["folder", "cat"])
        }
    }

    /// A file that somebody has put in the place of the one that was to be deleted may have its id.
    @Test func whatHasChangedSinceIsNotDeleted() async throws {
        try await OfflineSite.with { site in
            let new = try await site.refusedDeletion()
            #expect(try await site.text(of: new.id) == "newer")
        }
    }

    @Test func whatTheServerWillNeverHaveIsAConflictAndHoldsNothingBack() async throws {
        try await OfflineSite.with { site in
            site.be(.unreachable)
            for name in ["a", "b"] { _ = try await site.files.makeFolder(named: name, in: site.root) }
            site.be(.status(413))
            let left = try await site.send().left
            #expect(left.count == 2 && left.allSatisfy(\.isConflict))
            #expect(left.first?.reason?.contains("413") == true)
        }
    }
}
#endif
