// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import SystemPackage
import TestSupport
import Testing
import UplinkStore
import UplinkTesting

/// What the store costs beside plain GRDB: 10,000 rows written in one transaction and seen by who observes them.
@Suite(.timeLimit(.minutes(2)), .undisturbed)
struct ThroughputTests {
    private struct Item: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord {
        var id: Int
        var title: String
        var round: Int
    }

    private let rows = Effort.isFull ? 10_000 : 500
    private let rounds = Effort.isFull ? 15 : 2

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("items") { db in
            try db.create(table: "item") { table in
                table.primaryKey("id", .integer)
                table.column("title", .text).notNull()
                table.column("round", .integer).notNull()
            }
        }
        return migrator
    }

    private func items(_ round: Int) -> [Item] { (0..<rows).map { Item(id: $0, title: "item \($0)", round: round) } }

    private static func replace(_ items: [Item], _ db: Database) throws {
        try Item.deleteAll(db)
        for item in items { try item.insert(db) }
    }

    private static func fetch(_ db: Database) throws -> [Item] { try Item.order(Column("id")).fetchAll(db) }

    @Test func syncAndObservationBesidePlainGRDB() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let store = try await Store.open(
            directory.path.appending("store"), migrator: Self.migrator, performer: StubNetworkOperationPerformer())
        let pool = try DatabasePool(path: directory.path.appending("plain").string)
        try Self.migrator.migrate(pool)
        try await pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }

        let stream = store.stream(StoreQuery("items", fetch: Self.fetch), request: .storedOnly)
        var values = stream.values.makeAsyncIterator()
        var plain = ValueObservation.tracking(Self.fetch).removeDuplicates().values(in: pool).makeAsyncIterator()
        _ = await values.next()
        _ = try await plain.next()
        var times: [(store: Duration, plain: Duration)] = []
        for round in 1...rounds {
            let items = items(round)
            let start = ContinuousClock.now
            try await store.sync(
                StoreSync("items", fetch: { items }, write: { db, items in try Self.replace(items, db) }))
            while let value = await values.next(), value != items {}
            let middle = ContinuousClock.now
            try await pool.write { db in try Self.replace(items, db) }
            while let value = try await plain.next(), value != items {}
            times.append((middle - start, ContinuousClock.now - middle))
        }
        let (ours, theirs) = (times.map(\.store).sorted()[rounds / 2], times.map(\.plain).sorted()[rounds / 2])
        print("\(rows) rows: \(ours) with the store, \(theirs) with GRDB alone, ratio \(ours / theirs)")
        if Effort.isFull { #expect(ours / theirs <= 1.2) }
    }
}
#endif
