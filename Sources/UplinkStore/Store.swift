// SPDX-License-Identifier: Apache-2.0
#if Store
public import Foundation
public import GRDB
public import SystemPackage
public import Uplink
public import UplinkCore

/// A single source of truth that works offline: values are read only from a database, and syncs write to it.
///
/// ```swift
/// let store = try await Store.open("notes.db", migrator: migrator)
/// for await element in store.stream(notes, sync: syncOfNotes) { print(element) }
/// ```
///
/// The database is SQLite in WAL mode with `synchronous=FULL`: what a call has reported as written survives the process
/// and a power cut. Use one store for each file and process: its streams do not see the writes of other connections.
public final class Store: Sendable {
    /// The database, for the program's own reads and writes. Streams see every transaction made through it.
    public let database: any DatabaseWriter
    /// The path of the database; nil when it is in memory.
    public let path: FilePath?
    /// The path without links, so that it is the same for everyone who opens the file.
    let realPath: FilePath?
    let performer: any NetworkOperationPerforming
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    let syncs = SharedSyncs()
    /// The names of the outboxes that are being run.
    let running = Locked<Set<ExactKey>>([])
    /// What is known about each outbox, by name: all objects of one name share it.
    private let outboxes = Locked<[ExactKey: Locked<OutboxCore>]>([:])

    private init(
        _ database: any DatabaseWriter, path: FilePath?, performer: any NetworkOperationPerforming,
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Date
    ) {
        self.database = database
        self.path = path
        // As it was opened, from the root: the program's directory may have changed since.
        realPath = (database as? DatabasePool).map { FilePath($0.path) }.map { StoreFile.realPath($0) ?? $0 }
        self.performer = performer
        self.clock = clock
        self.now = now
    }

    func outbox(_ name: String) -> Locked<OutboxCore> {
        outboxes.withLock { outboxes in
            if let core = outboxes[ExactKey(name)] { return core }
            let core = Locked(OutboxCore())
            outboxes[ExactKey(name)] = core
            return core
        }
    }

    /// Opens a database, or creates it if there is no file, and brings its schema up to date.
    ///
    /// The file is first opened for reading: one that is damaged, newer or of another kind is not written to, nor is an
    /// SQLite database with tables to which no `DatabaseMigrator` was ever applied, except that a transaction that was
    /// interrupted is undone, as by everyone who reads the file. The work is done on a thread of its own.
    ///
    /// - Parameters:
    ///   - path: The database; SQLite keeps two more files beside it.
    ///   - migrator: The program's schema. `eraseDatabaseOnSchemaChange` is ignored.
    ///   - performer: The performer through which syncs and outboxes wait for the network.
    ///   - busyTimeout: How long to wait for a lock that another process holds.
    ///   - checksIntegrity: Whether the whole file is read first (`PRAGMA quick_check`), which takes about a second for
    ///     each gigabyte that is not in memory. Without it, damage is found only when the damaged part is read.
    ///   - clock: The clock that measures pauses.
    ///   - now: The wall clock, for the age of what is stored, and for what a new run finds left of a back-off.
    /// - Throws: ``StoreError``, with a code for each state of the file.
    public static func open(
        _ path: FilePath, migrator: DatabaseMigrator = DatabaseMigrator(),
        performer: any NetworkOperationPerforming = NetworkOperationPerformer(), busyTimeout: Duration = .seconds(5),
        checksIntegrity: Bool = true, clock: any Clock<Duration> = .continuous,
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws(StoreError) -> Store {
        let file = StoreFile(
            path: path, migrator: try StoreSchema.migrator(migrator), busyTimeout: busyTimeout,
            checksIntegrity: checksIntegrity)
        // Left under a lock instead of passed through the continuation: ThreadSanitizer does not see what passes
        // between threads when a resume overtakes the suspension.
        let opened = Locked<Result<DatabasePool, StoreError>?>(nil)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let result = Result { () throws(StoreError) in try file.open() }
                opened.withLock { $0 = result }
                continuation.resume()
            }
        }
        guard let database = try opened.withLock({ $0 })?.get() else {
            throw StoreError(.cannotOpen, message: "\(path) was not opened")  // not reached
        }
        return Store(database, path: path, performer: performer, clock: clock, now: now)
    }

    /// Creates a database in memory, which lives as long as the store, for tests and previews.
    ///
    /// - Throws: ``StoreError`` when a migration fails.
    public static func inMemory(
        migrator: DatabaseMigrator = DatabaseMigrator(),
        performer: any NetworkOperationPerforming = NetworkOperationPerformer(),
        clock: any Clock<Duration> = .continuous, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(StoreError) -> Store {
        let migrator = try StoreSchema.migrator(migrator)
        do {
            let database = try DatabaseQueue()
            try StoreFile.migrate(database, with: migrator, named: "the database in memory")
            return Store(database, path: nil, performer: performer, clock: clock, now: now)
        } catch {
            throw .database(error, while: "making a database in memory", otherwise: .cannotOpen)
        }
    }
}
#endif
