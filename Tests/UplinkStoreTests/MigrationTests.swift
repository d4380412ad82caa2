// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import SystemPackage
import TestSupport
import Testing
@testable import UplinkStore
import UplinkStoreTesting
import UplinkTesting

/// What a database's migrations have to be, for the store and for the program.
@Suite(.timeLimit(.minutes(1)))
struct MigrationTests {
    private let file: DatabaseFile

    init() throws { file = try DatabaseFile() }

    @Test func aNewerSchemaIsRefused() async throws {
        defer { file.directory.remove() }
        var newer = Lists.migrator
        newer.registerMigration("of the next version") { try $0.execute(sql: "CREATE TABLE more (x)") }
        try await file.make(newer)
        try await file.expectRefusal(.newerSchema)
        newer.eraseDatabaseOnSchemaChange = true  // not heeded
        let store = try await file.open(newer)
        #expect(try await store.words().count == 500)
        try store.database.close()
        var erasing = Lists.migrator
        erasing.eraseDatabaseOnSchemaChange = true
        try await file.expectRefusal(.newerSchema, erasing)
    }

    /// GRDB's `merging:`: a migration that takes the place of older ones.
    @Test(arguments: ["of today", "second"])
    func aFileOfMigrationsThatAreMergedTodayIsOpened(name: String) async throws {
        defer { file.directory.remove() }
        var old = Lists.migrator
        old.registerMigration("first") { try $0.execute(sql: "CREATE TABLE more (x)") }
        old.registerMigration("second") { try $0.execute(sql: "CREATE TABLE yet_more (x)") }
        try await file.make(old)
        var today = Lists.migrator
        today.registerMigration(name, merging: ["first", "second"]) { db, applied in
            if applied != ["first", "second"] { throw Broken() }
        }
        for _ in 0..<2 {
            let store = try await file.open(today)
            #expect(try await store.words().count == 500)
            let applied = try await store.database.read { db in
                try String.fetchSet(db, sql: "SELECT identifier FROM grdb_migrations")
            }
            #expect(applied == ["lists", name, "uplink-store-1", "uplink-store-2", "uplink-store-3"])
            try await store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try store.database.close()
        }
        try await file.expectRefusal(.newerSchema)
    }

    @Test func aNewerSchemaOfTheStoreItselfIsRefused() async throws {
        defer { file.directory.remove() }
        try await file.make()
        try await DatabaseQueue(path: file.path.string).write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('uplink-store-99')")
        }
        try await file.expectRefusal(.newerSchema)
    }

    @Test func aMigrationOfTheStoresOwnNameIsRefused() async throws {
        defer { file.directory.remove() }
        var migrator = DatabaseMigrator()
        migrator.registerMigration("uplink-store-1") { _ in }
        do {
            _ = try await file.open(migrator)
            Issue.record("it was opened")
        } catch {
            #expect(error.code == .invalidArgument)
        }
    }

    @Test func aMigrationThatFailsIsRolledBack() async throws {
        defer { file.directory.remove() }
        try await file.make()
        var migrator = Lists.migrator
        migrator.registerMigration("broken") { db in
            try db.execute(sql: "DELETE FROM word")
            throw Broken()
        }
        do {
            _ = try await file.open(migrator)
            Issue.record("it was opened")
        } catch {
            #expect(error.code == .migrationFailed)
        }
        #expect(try await file.open().words().count == 500)
    }

    /// The migration may have emptied it, and nobody would fetch it again.
    @Test func whatIsStoredIsNotFreshAfterAMigration() async throws {
        defer { file.directory.remove() }
        let sync = Lists.sync(StubFetch(["x"]), minimumInterval: .seconds(3600))
        let before = try await file.open()
        try await before.sync(sync)
        #expect(try await before.sync(sync) != .written)
        try before.database.close()
        var migrator = Lists.migrator
        migrator.registerMigration("empty") { try $0.execute(sql: "DELETE FROM word") }
        let store = try await file.open(migrator)
        #expect(try await store.validity(of: sync, maximumAge: .seconds(3600)) == .missing)
        #expect(try await store.sync(sync) == .written)
        #expect(try await store.words() == ["x"])
    }
}
#endif
