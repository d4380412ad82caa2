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
    private let file: DatabaseFile

    init() throws { file = try DatabaseFile() }

    /// Two such paths would be one file's in the text that GRDB takes.
    @Test func aPathThatIsNotUTF8IsRefused() async throws {
        defer { file.directory.remove() }
        let odd = file.directory.path.pushing(FilePath(platformString: [CChar(bitPattern: 0xE9), 0]))
        let link = file.directory.path.appending("link")
        let isLinked = odd.withPlatformString { mkdir($0, 0o700) == 0 && symlink($0, link.string) == 0 }
        try #require(isLinked)
        for path in [odd, odd.appending("db"), link.appending("db")] {
            let error = await #expect(throws: StoreError.self) {
                try await Store.open(path, migrator: Lists.migrator, performer: StubNetworkOperationPerformer())
            }
            #expect(error?.code == .cannotOpen && error?.message.contains("UTF-8") == true)
        }
        #expect(file.directory.names.count == 2)
    }

    @Test func whatWasWrittenIsThereAgain() async throws {
        defer { file.directory.remove() }
        try await file.make()
        let store = try await file.open()
        #expect(try await store.words().count == 500)
        let settings = try await store.database.writeWithoutTransaction { db in
            (
                try String.fetchOne(db, sql: "PRAGMA journal_mode"), try Int.fetchOne(db, sql: "PRAGMA synchronous")
            )
        }
        #expect(settings == ("wal", 2))  // FULL
    }

    @Test func anEmptyPathIsNamedAsSuch() async throws {
        defer { file.directory.remove() }
        let error = await #expect(throws: StoreError.self) { try await Store.open("") }
        #expect(error?.code == .cannotOpen)
        #expect(error?.message.contains("is empty") == true)
    }

    @Test func readersTooAreGivenTheBusyTimeout() async throws {
        defer { file.directory.remove() }
        let store = try await file.open()
        #expect(try await store.database.read { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") } == 200)
        #expect(try await store.database.write { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") } == 200)
        try store.database.close()
        _ = try await Store.open(file.path, migrator: Lists.migrator, busyTimeout: .seconds(Int64.max))
    }

    @Test func afterClosingTheErrorSaysThatItIsClosed() async throws {
        defer { file.directory.remove() }
        let store = try await file.open()
        let outbox = try Outbox(store)
        try store.database.close()
        let error = await #expect(throws: StoreError.self) {
            try await outbox.enqueue(key: "a", payload: Data("1".utf8))
        }
        #expect(error?.code == .writeFailed)
        #expect(error?.message.contains("closed") == true, "\(String(describing: error))")
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
        defer { file.directory.remove() }
        try file.directory.write("db", Array(String(repeating: "not a database, but a text. ", count: 100).utf8))
        try await file.expectRefusal(.notADatabase)
        try file.directory.write("db", Array("short".utf8))
        try await file.expectRefusal(.notADatabase)
    }

    /// An SQLite file, but not one of a migrator's: another program's, which would be surprised.
    @Test func whatAnotherProgramHasMadeIsRefused() async throws {
        defer { file.directory.remove() }
        let other = try DatabaseQueue(path: file.path.string)
        try await other.write { try $0.execute(sql: "CREATE TABLE bookmark (url TEXT)") }
        try other.close()
        try await file.expectRefusal(.notADatabase)
        #expect(file.directory.names == ["db"])
    }

    /// How a program brings its own from before along.
    @Test func whatAMigratorHasBeenAtIsOpened() async throws {
        defer { file.directory.remove() }
        let before = try DatabaseQueue(path: file.path.string)
        try await before.write { try $0.execute(sql: "CREATE TABLE bookmark (url TEXT)") }
        try Lists.migrator.migrate(before)
        try before.close()
        #expect(try await file.open().words() == [])
    }

    @Test func aDatabaseWithoutTablesIsOpened() async throws {
        defer { file.directory.remove() }
        let empty = try DatabaseQueue(path: file.path.string)
        try await empty.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 1") }
        try empty.close()
        #expect(try await file.open().words() == [])
    }

    @Test func aDamagedFileIsRefused() async throws {
        defer { file.directory.remove() }
        try await file.make()
        var bytes = try file.directory.read("db")
        #expect(bytes.count > 3 * 4096)
        for index in 4096..<bytes.count { bytes[index] = 0xA5 }
        try file.directory.write("db", bytes)
        try await file.expectRefusal(.corrupt)
        try file.directory.write("db", Array(bytes[..<4096]))
        try await file.expectRefusal(.corrupt)
    }

    /// Damage can make a file look like something else.
    @Test(arguments: [("from a later version", true), (nil, false)])
    func damageIsFoundBeforeAStrangeSchema(migration: String?, isBroken: Bool) async throws {
        defer { file.directory.remove() }
        try await file.make()
        let database = try DatabaseQueue(path: file.path.string)
        try await database.write { db in
            try db.execute(sql: "DROP TABLE grdb_migrations; CREATE TABLE grdb_migrations (identifier TEXT)")
            try db.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [migration])
            try db.execute(sql: "CREATE TABLE last (text TEXT); INSERT INTO last VALUES (hex(zeroblob(9000)))")
        }
        try database.close()
        let bytes = try file.directory.read("db")
        let garbage = [UInt8](repeating: 0xA5, count: 4096)
        if isBroken { try file.directory.write("db", Array(bytes.dropLast(garbage.count)) + garbage) }
        try await file.expectRefusal(.corrupt)
    }

    @Test func placesWhereNoDatabaseCanBeAreRefused() async throws {
        defer { file.directory.remove() }
        for place in ["missing/db", "."] {
            do {
                _ = try await Store.open(
                    file.directory.path.appending(place), performer: StubNetworkOperationPerformer())
                Issue.record("it was opened")
            } catch {
                #expect(error.code == .cannotOpen)
            }
        }
    }

    // MARK: With another process

    @Test func aDatabaseThatAnotherProcessHoldsIsRefused() async throws {
        defer { file.directory.remove() }
        #expect(try await Victim.run("open", file.path).output == "opened\n")
        let holder = try Victim.start("seize", file.path)
        try await holder.waitForOutput("holding")
        try await file.expectRefusal(.locked, Victim.migrator)
        holder.signal(SIGKILL)
        try await holder.wait()
        #expect(try await file.open(Victim.migrator).words().isEmpty)
    }

    /// Where another one writes to a file that is not in WAL mode yet, as at two first starts, SQLite waits for
    /// nothing.
    @Test func anOpeningWaitsForWhoChangesTheJournalsModeToo() async throws {
        defer { file.directory.remove() }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        configuration.busyMode = .timeout(30)  // the opening reads when this one ends
        let other = try DatabaseQueue(path: file.path.string, configuration: configuration)
        try DatabaseMigrator().migrate(other)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let start = ContinuousClock.now
        try await file.expectRefusal(.locked)
        #expect(start.duration(to: .now) >= .milliseconds(200))
        let opening = Task { try await Store.open(file.path, migrator: Lists.migrator, busyTimeout: .seconds(30)) }
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        #expect(try await opening.value.words().isEmpty)
    }

    @Test func aWriteThatAnotherProcessHoldsUpIsAnErrorAndTheValueStaysReadable() async throws {
        defer { file.directory.remove() }
        let store = try await file.open(Victim.migrator)
        try await store.write(["old"])
        let holder = try Victim.start("lock", file.path)
        try await holder.waitForOutput("holding")
        let recorder = StoreRecorder(store.stream(Lists.query(), sync: Lists.sync(StubFetch(["new"]))))
        try await eventually { recorder.words == ["value([\"old\"])", "loading", "error(locked)"] }
        holder.signal(SIGKILL)
        try await holder.wait()
        try await store.sync(Lists.sync(StubFetch(["new"])))
        try await eventually { recorder.values.last == ["new"] }
    }

    @Test(.needsNetworkNamespaces) func aFileThatCannotBeWrittenIsRefused() async throws {
        defer { file.directory.remove() }
        #expect(try await Victim.run("open", file.path).output == "opened\n")
        let before = try file.directory.read("db")
        let place = file.directory.path.string
        let program = try await Victim.run(
            "open", file.path, after: "mount --bind \(place) \(place) && mount -o remount,ro,bind \(place)")
        #expect(program.output == "readOnly\n", "\(program.errors)")
        #expect(try file.directory.read("db") == before)
    }

    // MARK: No room

    @Test func aFullDatabaseIsAnErrorAndWhatIsThereStays() async throws {
        defer { file.directory.remove() }
        try await file.make()
        let store = try await file.open()
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
        defer { file.directory.remove() }
        try await file.make()
        let log = [UInt8](repeating: 7, count: 5000)
        try file.directory.write("db-wal", log)
        if isThere {
            try file.directory.write("db", [])
        } else {
            try FileManager.default.removeItem(atPath: file.path.string)
        }
        let error = await #expect(throws: StoreError.self) { try await file.open() }
        #expect(error?.code == .corrupt && error?.message.contains("db-wal") == true)
        #expect(try file.directory.read("db-wal") == log)
    }
}
#endif
