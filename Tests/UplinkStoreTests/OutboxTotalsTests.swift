// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import GRDBSQLite
import SystemPackage
import TestSupport
import Testing
import UplinkCore
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

/// How much an outbox holds is counted with each entry, and never anew.
@Suite(.timeLimit(.minutes(1)))
struct OutboxTotalsTests: OutboxSuite {
    /// What is counted has to be what is there.
    static func check(_ db: Database, _ location: SourceLocation = #_sourceLocation) throws {
        let counted = try Row.fetchAll(
            db,
            sql: """
                SELECT outbox, pending, failed, bytes FROM uplink_outbox_totals WHERE pending + failed > 0
                    OR bytes <> 0 ORDER BY outbox
                """)
        let there = try Row.fetchAll(
            db,
            sql: """
                SELECT outbox, SUM(NOT isFailed) AS pending, SUM(isFailed) AS failed, SUM(bytes) AS bytes
                FROM uplink_outbox GROUP BY outbox ORDER BY outbox
                """)
        #expect(counted == there, sourceLocation: location)
    }

    private func check(_ store: Store, _ location: SourceLocation = #_sourceLocation) async throws {
        try await store.database.read { try Self.check($0, location) }
    }

    private func counts(_ outbox: Outbox) async -> [Int] {
        let state = await outbox.state(after: nil)
        return [state.pending, state.failed, state.bytes]
    }

    @Test func whatIsCountedIsThere() async throws {
        let store = try Store.lists()
        let (outbox, other) = (try Outbox(store), try Outbox(store, name: "other"))
        try await add(outbox, "a", "1", "22", "333")
        try await add(other, "a", "4444")
        #expect(await counts(outbox) == [3, 0, 6])
        #expect(await counts(other) == [1, 0, 4])
        await #expect(throws: Broken.self) {
            try await store.database.write { db in
                try outbox.enqueue(key: "a", payload: Data(), in: db)
                throw Broken()
            }
        }
        #expect(await counts(outbox) == [3, 0, 6])
        let handler = StubOutboxHandler(.done(), .failed(reason: "refused"), .failed(reason: "refused"))
        let run = start(outbox, handler)
        try await eventually { handler.entries.count == 3 && handler.running == 0 }
        await stop(run)
        #expect(await counts(outbox) == [0, 2, 5])
        try await check(store)
        let ids = try await outbox.entries().map(\.id)
        #expect(try await outbox.retry(ids[0]))
        #expect(await counts(outbox) == [1, 1, 5])
        #expect(try await outbox.cancel(ids) == .cancelled)
        #expect(await counts(outbox) == [0, 0, 0])
        #expect(await counts(other) == [1, 0, 4])
        try await check(store)
    }

    @Test func whatAnotherConnectionAddsOrRemovesIsCountedToo() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path.appending("db")
        let store = try await Store.open(path, performer: StubNetworkOperationPerformer())
        let outbox = try Outbox(store)
        try await add(outbox, "a", "1", "22")
        let other = try await Store.open(path, performer: StubNetworkOperationPerformer())
        try await add(try Outbox(other), "b", "333")
        #expect(await counts(outbox) == [3, 0, 6])
        try await other.database.write { try $0.execute(sql: "DELETE FROM uplink_outbox WHERE key = 'a'") }
        #expect(await counts(outbox) == [1, 0, 3])
        try await check(store)
    }

    /// A file of before there was such a count.
    @Test func whatIsThereAlreadyIsCountedOnce() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path.appending("db")
        let migrator = try StoreSchema.migrator(DatabaseMigrator())
        let before = try DatabaseQueue(path: path.string)
        try migrator.migrate(before, upTo: "uplink-store-1")
        try await before.write { db in
            for (name, isFailed) in [("outbox", 0), ("outbox", 1), ("other", 0)] {
                try db.execute(
                    sql: """
                        INSERT INTO uplink_outbox
                            (outbox, key, kind, payload, bytes, idempotencyKey, createdAt, attempts, isFailed)
                        VALUES (?, 'a', '', x'0102', 2, 'k', 0, 0, ?)
                        """, arguments: [name, isFailed])
            }
        }
        try before.close()
        let store = try await Store.open(path, performer: StubNetworkOperationPerformer())
        #expect(await counts(try Outbox(store)) == [1, 1, 4])
        #expect(await counts(try Outbox(store, name: "other")) == [1, 0, 2])
        try await check(store)
    }

    @Test func aTransactionIsToldOfOnceHoweverManyEntriesItAdds() async throws {
        let store = try Store.lists()
        let outbox = try Outbox(store)
        outbox.core.withLock { $0.begin(maximumConcurrent: 1) {} }
        let wakes = Locked(0)
        let listening = outbox.listen { wakes.withLock { $0 += 1 } }
        for _ in 0..<2 {
            try await store.database.write { db in
                for key in ["a", "b", "a", "b"] { try outbox.enqueue(key: key, payload: Data(), in: db) }
            }
        }
        #expect(wakes.withLock { $0 } == 3)  // at the beginning, and for each transaction
        #expect(outbox.core.withLock { $0.keysToLookUp } == ["a", "b"])
        await #expect(throws: Broken.self) {
            try await store.database.write { db in
                try outbox.enqueue(key: "c", payload: Data(), in: db)
                throw Broken()
            }
        }
        try await add(outbox, "d", "1")
        #expect(wakes.withLock { $0 } == 4)
        #expect(outbox.core.withLock { $0.keysToLookUp } == ["a", "b", "d"])
        withExtendedLifetime(listening) {}
    }

    /// In instructions of SQLite's virtual machine, which are the same on every machine.
    @Test func anEntryCostsTheSameHoweverManyThereAre() async throws {
        func steps(among count: Int) throws -> (adding: Int, head: Int, totals: Int) {
            var configuration = OutboxConfiguration()
            configuration.maximumEntries = .max
            let store = try Store.lists()
            let outbox = try Outbox(store, configuration: configuration)
            return try store.database.write { db in
                for _ in 0..<count { try outbox.enqueue(key: "a", payload: Data([1]), in: db) }
                return (
                    try Self.steps(of: db) { try outbox.enqueue(key: "a", payload: Data([1]), in: db) },
                    try Self.steps(of: db) { _ = try OutboxRow.head(of: outbox.name, key: "a", in: db) },
                    try Self.steps(of: db) { _ = try OutboxRow.totals(of: outbox.name, in: db) }
                )
            }
        }
        let (few, many) = (try steps(among: 10), try steps(among: 200))
        #expect(few.adding > 0 && few.head > 0 && few.totals > 0)
        #expect(few == many)
    }

    private static func steps(of db: Database, _ body: () throws -> Void) throws -> Int {
        // Only what the test itself does runs on the connection meanwhile.
        nonisolated(unsafe) var count = 0
        try withUnsafeMutablePointer(to: &count) { pointer in
            sqlite3_progress_handler(
                db.sqliteConnection, 1,
                { pointer in
                    pointer?.assumingMemoryBound(to: Int.self).pointee += 1
                    return 0
                }, pointer)
            defer { sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) }
            try body()
        }
        return count
    }
}
#endif
