// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import UplinkCore
import UplinkEventLoop
import UplinkStore

/// What is stored for one user of one server: what was read, with its age, and what is to be sent.
///
/// A ``Store`` with an ``Outbox``; contents are files beside the database, which its rows name.
struct OfflineStore: Sendable {
    let store: Store
    let outbox: Outbox
    let contents: DraftDirectory
    let uploads: DraftDirectory
    let limits: OfflineLimits
    let reach: ServerReach
    let now: @Sendable () -> Date
    let tell: @Sendable (OfflineNews) -> Void

    /// Opens the store in a directory, or creates it, and removes what a killed process left behind.
    ///
    /// - Throws: ``FilesError`` when that fails.
    static func open(
        _ directory: OfflineDirectory, reach: ServerReach, limits: OfflineLimits = OfflineLimits(),
        telling tell: @escaping @Sendable (OfflineNews) -> Void
    ) async throws -> Self {
        try directory.make()
        let store = try await explained {
            try await Store.open(
                directory.database, migrator: OfflineSchema.migrator, performer: reach.performer,
                clock: LoopClock.shared)
        }
        let files = try Self(store, in: directory, reach: reach, limits: limits, telling: tell)
        try await explained {
            try await files.contents.sweep { try await files.names(in: "content") }
            try await files.uploads.sweep { try await files.names(in: "change") }
        }
        return files
    }

    init(
        _ store: Store, in directory: OfflineDirectory, reach: ServerReach, limits: OfflineLimits = OfflineLimits(),
        now: @escaping @Sendable () -> Date = { Date() }, telling tell: @escaping @Sendable (OfflineNews) -> Void
    ) throws {
        var configuration = OutboxConfiguration()
        configuration.requirement = reach.requirement
        configuration.maximumConcurrent = 2
        configuration.backoff.maximum = .seconds(60)
        self.store = store
        outbox = try Outbox(store, name: "changes", configuration: configuration)
        contents = DraftDirectory(path: directory.contents)
        uploads = DraftDirectory(path: directory.uploads)
        (self.reach, self.limits, self.now, self.tell) = (reach, limits, now, tell)
    }

    /// Reads the database.
    ///
    /// - Throws: ``FilesError``, or `CancellationError`.
    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await Self.explained { try await store.database.read(body) }
    }

    /// Writes to the database, in one transaction.
    ///
    /// - Throws: ``FilesError``, or `CancellationError`.
    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await Self.explained { try await store.database.writeToItsEnd(body) }
    }

    /// Turns an error of `body` into one that says that the store failed.
    static func explained<T>(_ body: () async throws -> T) async throws -> T {
        do { return try await body() } catch let error as FilesError { throw error } catch is CancellationError {
            throw CancellationError()
        } catch let error as StoreError where error.code == .outboxInUse {
            throw FilesError(.busy, "another process sends at this moment what waits")
        } catch {
            throw FilesError(.localFile, "the store of what is kept failed: \(error); or use --online")
        }
    }

    private func names(in table: String) async throws -> Set<String> {
        try await read { db in
            Set(try String.fetchAll(db, sql: "SELECT file FROM \(table) WHERE file IS NOT NULL"))
        }
    }

    /// Removes files once the transaction that forgets them is committed.
    func remove(_ names: [String], from directory: DraftDirectory, after db: Database) {
        guard !names.isEmpty else { return }
        db.afterNextTransaction { _ in for name in names { directory.remove(name) } }
    }
}
#endif
