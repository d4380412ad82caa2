// SPDX-License-Identifier: Apache-2.0
import GRDB
import Glibc
import Harness
import SystemPackage
import UplinkStore
import UplinkTesting

/// Rows that one transaction writes and an observer sees: by the store's sync and stream, and by GRDB alone.
@main
enum Main {
    /// How often each run replaces all rows.
    private static let rounds = 10

    static func main() async {
        await Suite(
            "syncs",
            [
                Experiment(
                    "syncs", title: "Rows that are written in one transaction and seen by who observes them",
                    operation: "row", counts: [100, 1000, 10_000], columns: [.wall, .peakOfAll],
                    subjects: [
                        Subject("GRDB alone") { try await plain($0) },
                        Subject("the store: sync and stream") { try await store($0) },
                    ])
            ]
        ).main()
    }

    private static func plain(_ run: Run) async throws {
        let directory = try Directory()
        defer { directory.remove() }
        let pool = try DatabasePool(path: directory.path.appending("plain").string)
        try Row.migrator.migrate(pool)
        // As the store has it.
        try await pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        var values = ValueObservation.tracking(Row.all).removeDuplicates().values(in: pool).makeAsyncIterator()
        _ = try await values.next()
        try await run.measure(operations: rounds * run.count) {
            for round in 1...rounds {
                let rows = Row.rows(run.count, round)
                try await pool.write { db in try Row.replaceAll(rows, db) }
                while let value = try await values.next(), value != rows {}
            }
        }
    }

    private static func store(_ run: Run) async throws {
        let directory = try Directory()
        defer { directory.remove() }
        let store = try await Store.open(
            directory.path.appending("store"), migrator: Row.migrator, performer: StubNetworkOperationPerformer())
        let stream = store.stream(StoreQuery("rows", fetch: Row.all), request: .storedOnly)
        var values = stream.values.makeAsyncIterator()
        _ = await values.next()
        try await run.measure(operations: rounds * run.count) {
            for round in 1...rounds {
                let rows = Row.rows(run.count, round)
                try await store.sync(
                    StoreSync("rows", fetch: { rows }, write: { db, rows in try Row.replaceAll(rows, db) }))
                while let value = await values.next(), value != rows {}
            }
        }
    }
}

private struct Row: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    var id: Int
    var title: String
    var round: Int

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("rows") { db in
            try db.create(table: databaseTableName) { table in
                table.primaryKey("id", .integer)
                table.column("title", .text).notNull()
                table.column("round", .integer).notNull()
            }
        }
        return migrator
    }

    static func rows(_ count: Int, _ round: Int) -> [Row] {
        (0..<count).map { Row(id: $0, title: "row \($0)", round: round) }
    }

    @Sendable static func all(_ db: Database) throws -> [Row] { try Row.order(Column("id")).fetchAll(db) }

    static func replaceAll(_ rows: [Row], _ db: Database) throws {
        try Row.deleteAll(db)
        for row in rows { try row.insert(db) }
    }
}

/// A directory for the databases of one run.
private struct Directory {
    let path: FilePath

    init() throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/uplink-benchmark-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        path = FilePath(String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    func remove() {
        for name in ["plain", "store"] {
            for suffix in ["", "-wal", "-shm"] { unlink(path.appending(name + suffix).string) }
        }
        rmdir(path.string)
    }
}
