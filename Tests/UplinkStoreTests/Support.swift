// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import Glibc
import TestSupport
import UplinkCore
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

/// A list of words by list name: the schema of the tests.
enum Lists {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("lists") { db in
            try db.create(table: "word") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("list", .text).notNull()
                table.column("text", .text).notNull()
            }
        }
        return migrator
    }

    static func query(_ list: String = "a") -> StoreQuery<[String]> {
        StoreQuery(list) { db in
            try String.fetchAll(db, sql: "SELECT text FROM word WHERE list = ? ORDER BY id", arguments: [list])
        }
    }

    static func write(_ words: [String], to list: String = "a", _ db: Database) throws {
        try erase(db, list)
        for word in words {
            try db.execute(sql: "INSERT INTO word (list, text) VALUES (?, ?)", arguments: [list, word])
        }
    }

    static func erase(_ db: Database, _ list: String = "a") throws {
        try db.execute(sql: "DELETE FROM word WHERE list = ?", arguments: [list])
    }

    static func sync(
        _ fetch: StubFetch<[String]>, _ list: String = "a", networkLimit: Duration = .seconds(30),
        minimumInterval: Duration = .zero
    ) -> StoreSync {
        StoreSync(
            list, networkLimit: networkLimit, minimumInterval: minimumInterval, fetch: { try await fetch() },
            write: { db, words in try write(words, to: list, db) }, erase: { db in try erase(db, list) })
    }
}

extension Store {
    static func lists(
        performer: any NetworkOperationPerforming = StubNetworkOperationPerformer(), wall: WallClock = WallClock()
    ) throws -> Store {
        try stubbed(migrator: Lists.migrator, performer: performer, clock: ManualClock(), now: { wall.now })
    }

    func write(_ words: [String], to list: String = "a") async throws {
        try await database.write { try Lists.write(words, to: list, $0) }
    }

    func words(_ list: String = "a") async throws -> [String] { try await database.read(Lists.query(list).run) }
}

extension StoreQuery {
    /// The query's fetch, for a look beside the stream.
    var run: @Sendable (Database) throws -> Value { { try self.fetch($0) } }
}

/// A wall clock that a test sets.
final class WallClock: Sendable {
    private let date = Locked(Date(timeIntervalSince1970: 1_000_000))

    var now: Date { date.withLock { $0 } }
    func move(by seconds: Double) { date.withLock { $0 += seconds } }
}

/// The test's own kind of failure.
struct Broken: Error, Equatable {
    var number = 0
}

/// For threads that are not of Swift's pool.
func usleepBriefly() { usleep(1000) }

/// What the environment asks for.
enum Effort {
    static let isFull = getenv("UPLINK_FULL").map { String(cString: $0) != "" } ?? false
    static let seed =
        getenv("UPLINK_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...UInt64(UInt32.max))
}
#endif
