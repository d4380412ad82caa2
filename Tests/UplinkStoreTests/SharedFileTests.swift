// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCore
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

/// One file that several have opened: two stores of one process are to each other as two processes.
@Suite(.timeLimit(.minutes(1)))
struct SharedFileTests: OutboxSuite {
    private let directory: TemporaryDirectory
    private var path: FilePath { directory.path.appending("db") }

    init() throws { directory = try TemporaryDirectory() }

    private func open(_ path: FilePath, checksIntegrity: Bool = true) async throws(StoreError) -> Store {
        try await Store.open(
            path, migrator: Lists.migrator, performer: StubNetworkOperationPerformer(),
            checksIntegrity: checksIntegrity)
    }

    private func code(_ body: () async throws -> Void) async -> StoreError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test func aMigrationThatFailsAfterOneThatDoesNotIsAnError() async throws {
        defer { directory.remove() }
        var migrator = Lists.migrator
        migrator.registerMigration("broken") { _ in throw Broken() }
        let broken = migrator
        #expect(await code { _ = try await Store.open(path, migrator: broken) } == .migrationFailed)
        #expect(try await open(path).words().isEmpty)
    }

    @Test func aLinkIsAnotherNameOfTheSameFile() async throws {
        defer { directory.remove() }
        let link = directory.path.appending("link")
        let store = try await open(path)
        #expect(symlink(path.string, link.string) == 0)
        let other = try await open(link)
        let outbox = try Outbox(store)
        let run = start(outbox, StubOutboxHandler())
        try await eventually { outbox.core.withLock { $0.runner != nil } }
        #expect(await code { try await Outbox(other).run { _ in .done() } } == .outboxInUse)
        await stop(run)
        #expect(other.path == link)
    }

    /// Readers are opened later, when the program may be in another directory.
    @Test func aRelativePathIsResolvedOnce() async throws {
        defer { directory.remove() }
        let here = FileManager.default.currentDirectoryPath.split(separator: "/")
        let relative = FilePath(String(repeating: "../", count: here.count) + path.string.dropFirst())
        let store = try await open(relative)
        #expect((store.database as? DatabasePool)?.path == StoreFile.realPath(path)?.string)
    }

    @Test func damageIsNotLookedForWhereThatIsNotWanted() async throws {
        defer { directory.remove() }
        let store = try await open(path)
        try await store.write((0..<500).map { "word \($0)" })
        try await store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try store.database.close()
        var bytes = try directory.read("db")
        for index in bytes.count - 4096..<bytes.count { bytes[index] = 0xA5 }
        try directory.write("db", bytes)
        #expect(await code { _ = try await open(path) } == .corrupt)
        _ = try await open(path, checksIntegrity: false)
    }

    /// It may have been answered first, and late: what it brings may be older than what is there.
    @Test func whatAnotherProcessHasSyncedMeanwhileIsNotTakenBack() async throws {
        defer { directory.remove() }
        let (store, other) = (try await open(path), try await open(path))
        let fetch = StubFetch(["1"], ["2"])
        fetch.hold()
        let asker = Task { try await store.sync(Lists.sync(fetch)) }
        try await eventually { fetch.running == 1 }
        try await other.sync(Lists.sync(StubFetch(["2"])))
        fetch.release()
        #expect(try await asker.value == .written)
        #expect(fetch.calls == 2)
        #expect(try await store.words() == ["2"])
    }

    @Test func noNewsBesideASyncOfAnotherProcessIsNoNews() async throws {
        defer { directory.remove() }
        let (store, other) = (try await open(path), try await open(path))
        let fetch = StubFetch<[String]>(results: [.success(nil)])
        fetch.hold()
        let asker = Task { try await store.sync(Lists.sync(fetch)) }
        try await eventually { fetch.running == 1 }
        try await other.sync(Lists.sync(StubFetch(["2"])))
        fetch.release()
        #expect(try await asker.value == .noNews)
        #expect(fetch.calls == 1)
        #expect(try await store.words() == ["2"])
    }

    /// Both sync all the time, and one is slower.
    @Test func whoIsOvertakenAgainAndAgainWritesAndThatIsNotFresh() async throws {
        defer { directory.remove() }
        let (store, other) = (try await open(path), try await open(path))
        let rounds = Locked(0)
        let slow = StoreSync(
            "a",
            fetch: { () -> [String]? in
                try await other.sync(Lists.sync(StubFetch(["other"])))
                return rounds.withLock {
                    $0 += 1
                    return ["\($0)"]
                }
            }, write: { db, words in try Lists.write(words, db) })
        #expect(try await store.sync(slow) == .written)
        #expect(try await other.words() == ["\(Store.maximumFetches)"])
        #expect(try await other.validity(of: slow, maximumAge: .seconds(3600)) == .missing)
    }

    @Test func whatAnotherProcessMayBeSendingIsNotCancelled() async throws {
        defer { directory.remove() }
        let (store, other) = (try await open(path), try await open(path))
        let outbox = try Outbox(store)
        let id = try await outbox.enqueue(key: "a", payload: Data()).id
        let handler = StubOutboxHandler()
        handler.hold()
        let run = start(outbox, handler)
        try await eventually { handler.running == 1 }
        #expect(await code { try await Outbox(other).cancel(id) } == .outboxInUse)
        #expect(try await outbox.entries().count == 1)
        handler.answer(.tryAgain(reason: "busy"))
        await stop(run)
        #expect(try await Outbox(other).cancel(id) == .cancelled)
        #expect(try await outbox.entries().isEmpty)
    }

    @Test func whatAnotherProcessAddsWhileSomethingIsSentIsSentNext() async throws {
        defer { directory.remove() }
        let (store, other) = (try await open(path), try await open(path))
        let outbox = try Outbox(store)
        let handler = StubOutboxHandler()
        handler.hold()
        try await outbox.enqueue(key: "mine", payload: Data())
        let run = start(outbox, handler)
        try await eventually { handler.entries.count == 1 }
        try await Outbox(other).enqueue(key: "theirs", payload: Data())
        handler.release()
        try await eventually { handler.entries.map(\.key) == ["mine", "theirs"] }
        await stop(run)
    }

    /// Whoever runs it would not learn of it.
    @Test func whatAnotherProcessRunsIsNotTriedAgainFromHere() async throws {
        defer { directory.remove() }
        let (store, other) = (try await open(path), try await open(path))
        let outbox = try Outbox(store)
        let id = try await outbox.enqueue(key: "a", payload: Data()).id
        let handler = StubOutboxHandler()
        handler.hold()
        let run = start(outbox, handler)
        try await eventually { handler.running == 1 }
        #expect(await code { try await Outbox(other).retry(id) } == .outboxInUse)
        #expect(try await Outbox(store).retry(id))
        await stop(run)
        #expect(try await Outbox(other).retry(id))
    }

    /// As SQLite has it with its own files beside the database.
    @Test func whoMayWriteTheDatabaseMayLockItsOutboxes() async throws {
        defer { directory.remove() }
        let outbox = try Outbox(try await open(path))
        #expect(chmod(path.string, 0o664) == 0)
        if geteuid() == 0 { #expect(chown(path.string, 65_534, 65_534) == 0) }
        for _ in 0..<2 { _ = try OutboxLock.changing(outbox.name, beside: path) }
        let name = try #require(directory.names.first { $0.hasSuffix(".lock") })
        let (lock, database) = (status(of: directory.path.appending(name)), status(of: path))
        #expect(lock.st_mode & 0o777 == 0o664)
        #expect([lock.st_uid, lock.st_gid] == [database.st_uid, database.st_gid])
    }

    private func status(of path: FilePath) -> stat {
        var status = stat()
        _ = stat(path.string, &status)
        return status
    }

    @Test func whoRunsAnOutboxWaitsForWhoChangesIt() async throws {
        defer { directory.remove() }
        let (store, other) = (try await open(path), try await open(path))
        let outbox = try Outbox(store)
        var changers: [OutboxLock] = []
        for _ in 0..<2 { changers.append(try #require(try OutboxLock.changing(outbox.name, beside: path))) }
        let run = Task { try await outbox.run { _ in .done() } }
        try await eventually { store.running.withLock { $0.contains(ExactKey(outbox.name)) } }
        let id = try await outbox.enqueue(key: "a", payload: Data()).id
        #expect(try await Outbox(other).cancel(id) == .cancelled)
        #expect(outbox.core.withLock { $0.runner == nil })
        changers = []
        try await eventually { outbox.core.withLock { $0.runner != nil } }
        #expect(await code { try await Outbox(other).cancel(1) } == .outboxInUse)
        await stop(run)
    }

    /// As when a process was stopped while it cancels: nothing is sent, and somebody is told why.
    @Test func whoWaitsLongForWhoChangesAnOutboxSaysSo() async throws {
        defer { directory.remove() }
        let store = try await open(path)
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1")
        var changer = try OutboxLock.changing(outbox.name, beside: path)
        #expect(changer != nil)
        let handler = StubOutboxHandler()
        let run = start(outbox, handler)
        try await eventually { await outbox.state(after: nil).problem?.contains("another process") == true }
        #expect(handler.entries.isEmpty)
        changer = nil
        try await eventually { handler.entries.count == 1 }
        try await eventually { await outbox.state(after: nil).problem == nil }
        await stop(run)
    }

    /// Between the moment in which a call of this process takes the lock and the one in which it says that it runs.
    @Test func whoCancelsWaitsForARunOfItsOwnProcessThatBegins() async throws {
        defer { directory.remove() }
        let store = try await open(path)
        let outbox = try Outbox(store)
        let lock = try await OutboxLock.running(outbox.name, beside: path) { _ in }
        #expect(
            await code { _ = try await outbox.beginEdit { Issue.record("it waits for another process") } }
                == .outboxInUse)
        store.running.withLock { _ = $0.insert(ExactKey(outbox.name)) }
        let looks = Locked(0)
        let right = try await outbox.beginEdit {
            if looks.withLock({
                $0 += 1
                return $0
            }) == 3 {
                outbox.core.withLock { $0.begin(maximumConcurrent: 1) {} }
            }
        }
        guard case .besideRun = right else { throw Broken() }
        #expect(looks.withLock { $0 } == 3)
        #expect(outbox.core.withLock { $0.editors } == 1)
        outbox.endEdit(right)
        #expect(outbox.core.withLock { $0.editors } == 0)
        withExtendedLifetime(lock) {}
    }

    @Test func whoCancelsWaitsForARunOfItsOwnProcessThatEnds() async throws {
        defer { directory.remove() }
        let store = try await open(path)
        let outbox = try Outbox(store)
        let lock = Locked<OutboxLock?>(try await OutboxLock.running(outbox.name, beside: path) { _ in })
        store.running.withLock { _ = $0.insert(ExactKey(outbox.name)) }
        let right = try await outbox.beginEdit {
            lock.withLock { $0 = nil }
            store.running.withLock { _ = $0.remove(ExactKey(outbox.name)) }
        }
        guard case .locked = right else { throw Broken() }
    }

    /// Another process cannot begin to send what is being cancelled.
    @Test func aRunThatEndsKeepsItsLockUntilWhoCancelsBesideItHasDoneSo() async throws {
        defer { directory.remove() }
        let store = try await open(path)
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1", "2")
        let ids = try await outbox.entries().map(\.id)
        let handler = StubOutboxHandler()
        handler.hold()
        let run = start(outbox, handler)
        try await eventually { handler.running == 1 }
        let (isWriting, mayEnd) = (Locked(false), DispatchSemaphore(value: 0))
        let cancelling = Task {
            try await outbox.cancel(ids[1]) { _ in
                isWriting.withLock { $0 = true }
                mayEnd.wait()
            }
        }
        try await eventually { isWriting.withLock { $0 } }
        run.cancel()
        try await eventually { outbox.core.withLock { $0.runner == nil } }
        let beside = try OutboxLock.changing(outbox.name, beside: path)
        #expect(beside == nil)
        mayEnd.signal()
        #expect(try await cancelling.value == .cancelled)
        _ = await run.result
        let after = try OutboxLock.changing(outbox.name, beside: path)
        #expect(after != nil)
    }

    @Test func severalEntriesAreCancelledTogetherOrNotAtAll() async throws {
        defer { directory.remove() }
        let outbox = try Outbox(try Store.lists())
        try await add(outbox, "a", "1")
        try await add(outbox, "b", "2", "3")
        let ids = try await outbox.entries().map(\.id)
        #expect(try await outbox.cancel(ids + [99]) == .notFound)
        let handler = StubOutboxHandler()
        handler.hold()
        let run = start(outbox, handler)
        try await eventually { handler.running == 2 }
        #expect(try await outbox.cancel([ids[2], ids[0]]) == .beingSent)
        #expect(try await outbox.entries().count == 3)
        handler.release()
        try await eventually { try await outbox.entries().isEmpty }
        #expect(handler.entries.count == 3)
        await stop(run)
        try await add(outbox, "a", "4", "5")
        #expect(try await outbox.cancel(outbox.entries().map(\.id)) == .cancelled)
        #expect(try await outbox.entries().isEmpty)
    }

    /// Two readers of one subscription both sleep until there is something, and take turns at no cost.
    @Test func copiesOfAnIteratorWaitTogether() async throws {
        defer { directory.remove() }
        let store = try Store.lists()
        let subscription = StreamSubscription(store.stream(Lists.query(), request: .storedOnly))
        subscription.start()
        #expect(await subscription.next()?.value == [])
        let readers = (0..<2).map { _ in Task { await subscription.next()?.value } }
        try await eventually { subscription.waiting == 2 }
        try await store.write(["x"])
        try await eventually { subscription.waiting == 1 }
        try await store.write(["y"])
        var seen: Set<[String]?> = []
        for reader in readers { seen.insert(await reader.value) }
        #expect(seen == [["x"], ["y"]])
        subscription.end()
    }
}
#endif
