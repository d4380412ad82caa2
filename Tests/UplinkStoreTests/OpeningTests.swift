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

/// A clear error for each state of the file, which stays as it is.
@Suite(.timeLimit(.minutes(1)))
struct OpeningTests {
    private let directory: TemporaryDirectory
    private var path: FilePath { directory.path.appending("db") }

    init() throws { directory = try TemporaryDirectory() }

    private func open(_ migrator: DatabaseMigrator = Lists.migrator) async throws(StoreError) -> Store {
        try await Store.open(
            path, migrator: migrator, performer: StubNetworkOperationPerformer(), busyTimeout: .milliseconds(200))
    }

    /// A database with something in it, closed, and all in the one file.
    private func make(_ migrator: DatabaseMigrator = Lists.migrator) async throws {
        let store = try await open(migrator)
        try await store.write((0..<500).map { "word \($0)" })
        try await store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try store.database.close()
    }

    private func expectRefusal(
        _ code: StoreError.Code, _ migrator: DatabaseMigrator = Lists.migrator,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try TemporaryDirectory.read(path)
        do {
            _ = try await open(migrator)
            Issue.record("it was opened", sourceLocation: location)
        } catch {
            #expect(error.code == code, "\(error)", sourceLocation: location)
            #expect(error.message.contains("\(path)"), sourceLocation: location)
        }
        #expect(try TemporaryDirectory.read(path) == before, sourceLocation: location)
    }

    /// Two such paths would be one file's in the text that GRDB takes.
    @Test func aPathThatIsNotUTF8IsRefused() async throws {
        defer { directory.remove() }
        let odd = directory.path.pushing(FilePath(platformString: [CChar(bitPattern: 0xE9), 0]))
        let link = directory.path.appending("link")
        let isLinked = odd.withPlatformString { mkdir($0, 0o700) == 0 && symlink($0, link.string) == 0 }
        try #require(isLinked)
        for path in [odd, odd.appending("db"), link.appending("db")] {
            let error = await #expect(throws: StoreError.self) {
                try await Store.open(path, migrator: Lists.migrator, performer: StubNetworkOperationPerformer())
            }
            #expect(error?.code == .cannotOpen && error?.message.contains("UTF-8") == true)
        }
        #expect(directory.names.count == 2)
    }

    @Test func whatWasWrittenIsThereAgain() async throws {
        defer { directory.remove() }
        try await make()
        let store = try await open()
        #expect(try await store.words().count == 500)
        let settings = try await store.database.writeWithoutTransaction { db in
            (
                try String.fetchOne(db, sql: "PRAGMA journal_mode"), try Int.fetchOne(db, sql: "PRAGMA synchronous")
            )
        }
        #expect(settings == ("wal", 2))  // FULL
    }

    @Test func anEmptyPathIsNamedAsSuch() async throws {
        defer { directory.remove() }
        let error = await #expect(throws: StoreError.self) { try await Store.open("") }
        #expect(error?.code == .cannotOpen)
        #expect(error?.message.contains("is empty") == true)
    }

    @Test func readersTooAreGivenTheBusyTimeout() async throws {
        defer { directory.remove() }
        let store = try await open()
        #expect(try await store.database.read { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") } == 200)
        #expect(try await store.database.write { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") } == 200)
        try store.database.close()
        _ = try await Store.open(path, migrator: Lists.migrator, busyTimeout: .seconds(Int64.max))
    }

    @Test func withoutDescriptorsItSaysSoAndOpensOnceThereAreSome() async throws {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let path = directory.path.appending("db")
            func words() async -> String {
                do {
                    let store = try await Store.open(path, migrator: Lists.migrator)
                    try store.database.close()
                    return ""
                } catch {
                    return "\(error)"
                }
            }
            let before = await words()
            let limit = setDescriptorLimit(0)
            let without = await words()
            _ = setDescriptorLimit(limit)
            #expect(before.isEmpty)
            #expect(without.contains("ulimit -n") && without.contains("\(path)"), "\(without)")
            #expect(await words().isEmpty)
        }
    }

    @Test func whatIsNoDatabaseIsRefused() async throws {
        defer { directory.remove() }
        try directory.write("db", Array(String(repeating: "not a database, but a text. ", count: 100).utf8))
        try await expectRefusal(.notADatabase)
        try directory.write("db", Array("short".utf8))
        try await expectRefusal(.notADatabase)
    }

    /// An SQLite file, but not one of a migrator's: another program's, which would be surprised.
    @Test func whatAnotherProgramHasMadeIsRefused() async throws {
        defer { directory.remove() }
        let other = try DatabaseQueue(path: path.string)
        try await other.write { try $0.execute(sql: "CREATE TABLE bookmark (url TEXT)") }
        try other.close()
        try await expectRefusal(.notADatabase)
        #expect(directory.names == ["db"])
    }

    /// How a program brings its own from before along.
    @Test func whatAMigratorHasBeenAtIsOpened() async throws {
        defer { directory.remove() }
        let before = try DatabaseQueue(path: path.string)
        try await before.write { try $0.execute(sql: "CREATE TABLE bookmark (url TEXT)") }
        try Lists.migrator.migrate(before)
        try before.close()
        #expect(try await open().words() == [])
    }

    @Test func aDatabaseWithoutTablesIsOpened() async throws {
        defer { directory.remove() }
        let empty = try DatabaseQueue(path: path.string)
        try await empty.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 1") }
        try empty.close()
        #expect(try await open().words() == [])
    }

    @Test func aDamagedFileIsRefused() async throws {
        defer { directory.remove() }
        try await make()
        var bytes = try directory.read("db")
        #expect(bytes.count > 3 * 4096)
        for index in 4096..<bytes.count { bytes[index] = 0xA5 }
        try directory.write("db", bytes)
        try await expectRefusal(.corrupt)
        try directory.write("db", Array(bytes[..<4096]))
        try await expectRefusal(.corrupt)
    }

    @Test func aNewerSchemaIsRefused() async throws {
        defer { directory.remove() }
        var newer = Lists.migrator
        newer.registerMigration("of the next version") { try $0.execute(sql: "CREATE TABLE more (x)") }
        try await make(newer)
        try await expectRefusal(.newerSchema)
        newer.eraseDatabaseOnSchemaChange = true  // not heeded
        let store = try await open(newer)
        #expect(try await store.words().count == 500)
        try store.database.close()
        var erasing = Lists.migrator
        erasing.eraseDatabaseOnSchemaChange = true
        try await expectRefusal(.newerSchema, erasing)
    }

    /// GRDB's `merging:`: a migration that takes the place of older ones.
    @Test(arguments: ["of today", "second"])
    func aFileOfMigrationsThatAreMergedTodayIsOpened(name: String) async throws {
        defer { directory.remove() }
        var old = Lists.migrator
        old.registerMigration("first") { try $0.execute(sql: "CREATE TABLE more (x)") }
        old.registerMigration("second") { try $0.execute(sql: "CREATE TABLE yet_more (x)") }
        try await make(old)
        var today = Lists.migrator
        today.registerMigration(name, merging: ["first", "second"]) { db, applied in
            if applied != ["first", "second"] { throw Broken() }
        }
        for _ in 0..<2 {
            let store = try await open(today)
            #expect(try await store.words().count == 500)
            let applied = try await store.database.read { db in
                try String.fetchSet(db, sql: "SELECT identifier FROM grdb_migrations")
            }
            #expect(applied == ["lists", name, "uplink-store-1", "uplink-store-2", "uplink-store-3"])
            try await store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try store.database.close()
        }
        try await expectRefusal(.newerSchema)
    }

    @Test func aNewerSchemaOfTheStoreItselfIsRefused() async throws {
        defer { directory.remove() }
        try await make()
        try await DatabaseQueue(path: path.string).write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('uplink-store-99')")
        }
        try await expectRefusal(.newerSchema)
    }

    @Test func aMigrationOfTheStoresOwnNameIsRefused() async throws {
        defer { directory.remove() }
        var migrator = DatabaseMigrator()
        migrator.registerMigration("uplink-store-1") { _ in }
        do {
            _ = try await open(migrator)
            Issue.record("it was opened")
        } catch {
            #expect(error.code == .invalidArgument)
        }
    }

    @Test func aMigrationThatFailsIsRolledBack() async throws {
        defer { directory.remove() }
        try await make()
        var migrator = Lists.migrator
        migrator.registerMigration("broken") { db in
            try db.execute(sql: "DELETE FROM word")
            throw Broken()
        }
        do {
            _ = try await open(migrator)
            Issue.record("it was opened")
        } catch {
            #expect(error.code == .migrationFailed)
        }
        #expect(try await open().words().count == 500)
    }

    /// The migration may have emptied it, and nobody would fetch it again.
    @Test func whatIsStoredIsNotFreshAfterAMigration() async throws {
        defer { directory.remove() }
        let sync = Lists.sync(StubFetch(["x"]), minimumInterval: .seconds(3600))
        let before = try await open()
        try await before.sync(sync)
        #expect(try await before.sync(sync) != .written)
        try before.database.close()
        var migrator = Lists.migrator
        migrator.registerMigration("empty") { try $0.execute(sql: "DELETE FROM word") }
        let store = try await open(migrator)
        #expect(try await store.validity(of: sync, maximumAge: .seconds(3600)) == .missing)
        #expect(try await store.sync(sync) == .written)
        #expect(try await store.words() == ["x"])
    }

    @Test func placesWhereNoDatabaseCanBeAreRefused() async throws {
        defer { directory.remove() }
        for place in ["missing/db", "."] {
            do {
                _ = try await Store.open(directory.path.appending(place), performer: StubNetworkOperationPerformer())
                Issue.record("it was opened")
            } catch {
                #expect(error.code == .cannotOpen)
            }
        }
    }

    // MARK: With another process

    @Test func aDatabaseThatAnotherProcessHoldsIsRefused() async throws {
        defer { directory.remove() }
        #expect(try await Victim.run("open", path).output == "opened\n")
        let holder = try Victim.start("seize", path)
        try await holder.waitForOutput("holding")
        try await expectRefusal(.locked, Victim.migrator)
        holder.signal(SIGKILL)
        try await holder.wait()
        #expect(try await open(Victim.migrator).words().isEmpty)
    }

    /// Where another one writes to a file that is not in WAL mode yet, as at two first starts, SQLite waits for
    /// nothing.
    @Test func anOpeningWaitsForWhoChangesTheJournalsModeToo() async throws {
        defer { directory.remove() }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        configuration.busyMode = .timeout(30)  // the opening reads when this one ends
        let other = try DatabaseQueue(path: path.string, configuration: configuration)
        try DatabaseMigrator().migrate(other)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let start = ContinuousClock.now
        try await expectRefusal(.locked)
        #expect(start.duration(to: .now) >= .milliseconds(200))
        let opening = Task { try await Store.open(path, migrator: Lists.migrator, busyTimeout: .seconds(30)) }
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        #expect(try await opening.value.words().isEmpty)
    }

    @Test func aWriteThatAnotherProcessHoldsUpIsAnErrorAndTheValueStaysReadable() async throws {
        defer { directory.remove() }
        let store = try await open(Victim.migrator)
        try await store.write(["old"])
        let holder = try Victim.start("lock", path)
        try await holder.waitForOutput("holding")
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(StubFetch(["new"]))))
        try await eventually { recorder.words == ["value([\"old\"])", "loading", "error(locked)"] }
        holder.signal(SIGKILL)
        try await holder.wait()
        try await store.sync(Lists.sync(StubFetch(["new"])))
        try await eventually { recorder.values.last == ["new"] }
    }

    @Test(.needsNetworkNamespaces) func aFileThatCannotBeWrittenIsRefused() async throws {
        defer { directory.remove() }
        #expect(try await Victim.run("open", path).output == "opened\n")
        let before = try directory.read("db")
        let place = directory.path.string
        let program = try await Victim.run(
            "open", path, after: "mount --bind \(place) \(place) && mount -o remount,ro,bind \(place)")
        #expect(program.output == "readOnly\n", "\(program.errors)")
        #expect(try directory.read("db") == before)
    }

    // MARK: No room

    @Test func aFullDatabaseIsAnErrorAndWhatIsThereStays() async throws {
        defer { directory.remove() }
        try await make()
        let store = try await open()
        try await store.database.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages + 2)")
        }
        let many = Lists.sync(StubFetch((0..<20_000).map { "a longer word \($0)" }))
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: many))
        try await eventually { recorder.errors.map(\.code) == [.diskFull] }
        #expect(try await store.words().count == 500)
        try await store.sync(Lists.sync(StubFetch(["few"])))
        try await eventually { recorder.values.last == ["few"] }
    }

    @Test(arguments: [true, false]) func aLogWithoutItsDatabaseIsRefusedAndStays(isThere: Bool) async throws {
        defer { directory.remove() }
        try await make()
        let log = [UInt8](repeating: 7, count: 5000)
        try directory.write("db-wal", log)
        if isThere { try directory.write("db", []) } else { try FileManager.default.removeItem(atPath: path.string) }
        let error = await #expect(throws: StoreError.self) { try await open() }
        #expect(error?.code == .corrupt && error?.message.contains("db-wal") == true)
        #expect(try directory.read("db-wal") == log)
    }
}
#endif
