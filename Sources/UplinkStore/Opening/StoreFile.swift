// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import Glibc
import SystemPackage

/// Opens the file. Looks at it without writing first, so that a file that is refused stays as it is.
struct StoreFile {
    let path: FilePath
    let migrator: DatabaseMigrator
    let busyTimeout: Duration
    /// Whether to read the whole file, to find damage.
    var checksIntegrity = true

    /// Opens the database and brings its schema up to date. Blocks.
    func open() throws(StoreError) -> DatabasePool {
        let file = try located()
        let start = ContinuousClock.now
        while true {
            do {
                return try open(file)
            } catch let error as DatabaseError
                where error.resultCode == .SQLITE_BUSY && start.duration(to: .now) < busyTimeout
            {
                // SQLite does not wait for a lock when it is to change the journal mode, as every first start does.
                usleep(10_000)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN && hasNoInodes {
                // SQLite does not say so, and only a file that it has already can be full.
                throw StoreError(
                    .diskFull,
                    message: "opening \(path) failed: its file system has no room for another file (`df -i`); remove "
                        + "some and try again", underlyingError: error)
            } catch {
                throw .database(error, while: "opening \(path)", otherwise: .cannotOpen)
            }
        }
    }

    private func open(_ file: String) throws -> DatabasePool {
        let logSize = size(of: Self.log(of: file))  // first: who creates a database writes the log after the file
        if size(of: file) > 0 {
            try look(at: file)
        } else if logSize > 0 {
            throw leftLog(of: file)
        }
        let pool = try DatabasePool(path: file, configuration: configuration)
        // GRDB sets NORMAL for WAL, and a power cut may then undo a commit.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try Self.migrate(pool, with: migrator, named: path.string)
        return pool
    }

    private static func forgetSyncs(_ database: any DatabaseWriter) throws {
        try database.write { db in
            if try db.tableExists(SyncRecord.databaseTableName) { try SyncRecord.forgetSyncs(db) }
        }
    }

    /// Applies the missing migrations. Data that a migration may have changed must not be kept by a "not modified" nor
    /// count as fresh, even if this process dies or a later migration fails, so all syncs are forgotten first, and
    /// once more behind the migrations.
    static func migrate(_ database: any DatabaseWriter, with migrator: DatabaseMigrator, named name: String) throws {
        var applied = try database.read { db in
            try refuseForeign(db, name)
            return try migrator.appliedIdentifiers(db)
        }
        try refuseNewer(applied, migrator, name)
        let known = Set(migrator.migrations)  // a migration that merges others removes their names
        while applied != known {
            do {
                try forgetSyncs(database)
                try migrator.migrate(database)
                return try forgetSyncs(database)  // another process may have synced between the two
            } catch {
                // Another process may be migrating too, and be faster; then there is less left to do in the next round.
                let now = try database.read { try migrator.appliedIdentifiers($0) }
                guard now.intersection(known).isStrictSuperset(of: applied.intersection(known)) else {
                    throw StoreError.database(error, while: "migrating the database", otherwise: .migrationFailed)
                }
                try refuseNewer(now, migrator, name)
                applied = now
            }
        }
    }

    private var configuration: Configuration {
        var configuration = Configuration()
        // SQLite takes milliseconds in 32 bits. GRDB gives readers ten seconds unless this says otherwise.
        let timeout = min(max(busyTimeout, .zero), .milliseconds(CInt.max)) / .seconds(1)
        configuration.busyMode = .timeout(timeout)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA busy_timeout = \(Int(timeout * 1000))") }
        configuration.label = "UplinkStore"
        return configuration
    }

    private static func log(of file: String) -> String { "\(file)-wal" }

    /// The error for the log of a database that is gone: SQLite would begin a new one and remove the log, which may be
    /// all that is left of what was written last.
    private func leftLog(of file: String) -> StoreError {
        let log = Self.log(of: file)
        return StoreError(
            .corrupt,
            message: "\(path) is empty or missing, and \(log) has what was written to it last; restore both, or move "
                + "\(log) away and begin with an empty database")
    }

    private func look(at file: String) throws {
        do {
            try look(at: file, readonly: true)
        } catch let error as DatabaseError where Self.needsRecovery.contains(error.extendedResultCode) {
            // A journal has to be played back before anyone can read, and only a connection that may write can do that.
            // One that is not a pool's leaves the journal's mode as it is.
            try look(at: file, readonly: false)
        }
    }

    private func look(at file: String, readonly: Bool) throws {
        var configuration = configuration
        configuration.readonly = readonly
        let database = try DatabaseQueue(path: file, configuration: configuration)
        try database.read { db in
            try Self.refuseForeign(db, path.string)
            let schema = Result { try Self.refuseNewer(try migrator.appliedIdentifiers(db), migrator, path.string) }
            // First, because what is strange about the schema may be damage.
            if checksIntegrity { try Self.checkIntegrity(db) }
            do { try schema.get() } catch let error as RowDecodingError {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "\(error)")
            }
        }
        try database.close()
    }

    private static func checkIntegrity(_ db: Database) throws {
        let verdict = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "no answer"
        if verdict != "ok" { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: verdict) }
    }

    private static let needsRecovery: [ResultCode] = [
        .SQLITE_READONLY_ROLLBACK, .SQLITE_READONLY_RECOVERY, .SQLITE_READONLY_CANTINIT,
    ]

    /// Refuses a database that no migrator of GRDB has made: it belongs to another program, which may not cope with our
    /// tables and another journal mode.
    private static func refuseForeign(_ db: Database, _ name: String) throws {
        guard try !db.tableExists("grdb_migrations"),
            let found = try String.fetchOne(db, sql: "SELECT name FROM sqlite_master LIMIT 1")
        else { return }
        throw StoreError(
            .notADatabase,
            message: "\(name) is another program's (it has `\(found)`, and no `grdb_migrations`); was another path "
                + "meant? If it is the program's own, apply its migrator to it once by GRDB")
    }

    private static func refuseNewer(_ applied: Set<String>, _ migrator: DatabaseMigrator, _ name: String) throws {
        let unknown = try unknown(applied, to: migrator)
        guard !unknown.isEmpty else { return }
        throw StoreError(
            .newerSchema,
            message: "\(name) was written by a newer version of the program (its migrations "
                + "\(unknown.sorted().joined(separator: ", ")) are not known here); update the program, or choose another "
                + "file")
    }

    /// The applied migrations that the program does not know, neither as such nor merged into another.
    ///
    /// GRDB does not say which are merged. But when all migrations are applied it runs none, and removes the names of
    /// those that are merged; so we let it do that to a database that has only the names.
    private static func unknown(_ applied: Set<String>, to migrator: DatabaseMigrator) throws -> Set<String> {
        let known = Set(migrator.migrations)
        guard !applied.isSubset(of: known) else { return [] }
        let names = try DatabaseQueue()
        try names.write { db in
            try db.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
            for name in applied.union(known) {
                try db.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [name])
            }
        }
        try migrator.migrate(names)
        return try names.read { try migrator.appliedIdentifiers($0) }.subtracting(known)
    }

    /// The file's absolute path without links: the working directory may change before all readers are opened, and
    /// files beside it, such as an outbox's lock, have to be the same for programs that come by a link.
    ///
    /// SQLite itself opens a file that it cannot write for reading, and reports it only at the first write, so
    /// permissions are checked here.
    private func located() throws(StoreError) -> String {
        guard !path.isEmpty else {
            throw StoreError(.cannotOpen, message: "the path of the database is empty; give that of a file")
        }
        guard String(validating: path) != nil else { throw isNotText(path) }
        var parent = path.removingLastComponent()
        if parent.isEmpty { parent = "." }
        var status = stat()
        guard stat(parent.string, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw StoreError(.cannotOpen, message: "there is no directory \(parent) for the database; make it first")
        }
        let exists = stat(path.string, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG {
            throw StoreError(.cannotOpen, message: "\(path) is not a file; choose another path for the database")
        }
        if exists, access(path.string, R_OK) != 0 {
            throw StoreError(.cannotOpen, message: "\(path) cannot be read; see to its permissions")
        }
        let file = Self.realPath(path) ?? Self.realPath(parent)?.appending(path.lastComponent?.string ?? "")
        if let file, String(validating: file) == nil { throw isNotText(file) }
        let directory = file?.removingLastComponent() ?? parent
        guard let file, !exists || access(file.string, W_OK) == 0, access(directory.string, W_OK) == 0 else {
            throw StoreError(
                .readOnly,
                message: "\(path) cannot be written (\(String(cString: strerror(errno)))); the database needs to write "
                    + "its file and its directory")
        }
        return file.string
    }

    /// The error for a path that is not UTF-8, which cannot be given to GRDB: in its place another file would be
    /// opened.
    private func isNotText(_ path: FilePath) -> StoreError {
        StoreError(.cannotOpen, message: "the path `\(path)` is not UTF-8; choose another path for the database")
    }

    /// The absolute path without links; nil if there is no such file.
    static func realPath(_ path: FilePath) -> FilePath? {
        guard let real = realpath(path.string, nil) else { return nil }
        defer { free(real) }
        return FilePath(platformString: real)
    }

    private var hasNoInodes: Bool {
        var system = statvfs()
        let directory = path.removingLastComponent()
        return statvfs(directory.isEmpty ? "." : directory.string, &system) == 0 && system.f_files > 0
            && system.f_favail == 0
    }

    private func size(of file: String) -> Int64 {
        var status = stat()
        return stat(file, &status) == 0 ? Int64(status.st_size) : 0
    }
}
#endif
