// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import UplinkCore
import UplinkStore

extension OfflineStore {
    /// The answer to a query after a sync, or without one if the server is not reached.
    ///
    /// - Parameters:
    ///   - key: What is synced.
    ///   - query: Reads the answer; nil if nothing is stored.
    ///   - activity: What is being tried, for the errors.
    ///   - fetch: Asks the server. Its answer is returned even if it cannot be stored.
    ///   - write: Stores the server's answer.
    /// - Throws: ``FilesError``, or `CancellationError`.
    func answer<Value: Equatable & Sendable>(
        for key: String, to query: @escaping @Sendable (Database) throws -> Value?, while activity: String,
        fetch: @escaping @Sendable () async throws -> Value,
        write: @escaping @Sendable (Database, Value) throws -> Void
    ) async throws -> (value: Value, source: AnswerSource) {
        let fetched = Locked<Value?>(nil)
        let sync = StoreSync(
            key, networkLimit: ServerReach.networkLimit, requiring: reach.requirement,
            fetch: {
                let value = try await fetch()
                fetched.withLock { $0 = value }
                return value as Value?
            }, write: write)
        var problem = reach.recentFailure
        let request = problem == nil ? StoreRequest.freshOrStored : .storedOnly
        for await element in store.stream(StoreQuery(key, fetch: query), sync: sync, request: request) {
            switch element {
            case .waiting, .loading: continue
            case .noNews:  // another caller has just synced it
                guard let value = try await read(query) else { continue }
                return (value, .server)
            case .error(let error):
                guard let reason = ServerReach.reason(error) else {
                    // A full disk does not keep anyone from reading the server's answer.
                    if let value = fetched.withLock({ $0 }) { return (value, .server) }
                    if let error = error.underlyingError as? FilesError { throw error }
                    guard request != .storedOnly, [.diskFull, .writeFailed, .readOnly, .locked].contains(error.code)
                    else {
                        throw FilesError(.localFile, "could not \(activity): \(error)")
                    }
                    return (try await fetch(), .server)  // another caller has fetched it
                }
                reach.failed(reason)
                problem = reason
            case .value(let value, let origin):
                guard let value else {
                    throw FilesError(
                        .unreachable, "\(problem ?? "the server was not asked"); and nothing is kept of it")
                }
                guard let problem else { return (value, .server) }
                let stored = StoredAnswer(age: origin.age, reason: problem)
                tell(.stored(stored))
                return (value, .store(stored))
            }
        }
        throw CancellationError()
    }

    /// The folder's listing with what is to be sent in it.
    ///
    /// - Throws: ``FilesError``, or `CancellationError`.
    func listing(of folder: ItemID, from remote: any ListFolder) async throws -> Listing {
        let states = try await states()
        let (folder, isNew) = try await place(folder)
        if isNew {
            let source = StoredAnswer(age: .zero, reason: "the folder is still to be made on the server")
            return try await read { db in
                try ListingTable.listing(of: folder, states, isNew: true, in: db) ?? Listing(items: [], malformed: 0)
            }.from(.store(source))
        }
        let answer = try await answer(
            for: "items/\(folder)", to: { try ListingTable.listing(of: folder, states, isNew: false, in: $0) },
            while: "list the folder", fetch: { try await remote(folder) },
            write: { [self] db, listing in
                let files = try ListingTable.write(listing, of: folder, now: now(), limit: limits.items, in: db)
                remove(files, from: contents, after: db)
            })
        return answer.value.from(answer.source)
    }

    /// The user.
    ///
    /// - Throws: ``FilesError``, or `CancellationError`.
    func user(from remote: any ReadUser) async throws -> User {
        try await answer(
            for: "me",
            to: { db in
                try Data.fetchOne(db, sql: "SELECT json FROM user").map { try FilesJSON.user(from: Array($0)) }
            }, while: "log in", fetch: { try await remote() },
            write: { db, user in
                try db.execute(
                    sql: "INSERT OR REPLACE INTO user (id, json) VALUES (1, ?)",
                    arguments: [Data(try FilesJSON.encode(user))])
            }
        ).value
    }
}

/// Listings as rows.
enum ListingTable {
    /// Replaces what was known about the folder by a listing, and removes the least recently read ones if there are too
    /// many.
    ///
    /// - Returns: The names of our files with contents of items that no longer exist.
    static func write(
        _ listing: Listing, of folder: ItemID, now: Date, limit: Int, in db: Database
    ) throws -> [String] {
        let before = try String.fetchSet(db, sql: "SELECT id FROM item WHERE folder = ?", arguments: [folder.text])
        let files = try before.subtracting(listing.items.map(\.id.text)).compactMap { ItemID($0) }
            .flatMap { try remove($0, from: db) }
        try db.execute(sql: "DELETE FROM item WHERE folder = ?", arguments: [folder.text])
        for item in listing.items { try ItemRow(item, in: folder).insert(db, onConflict: .replace) }
        try note(folder, malformed: listing.malformed, now: now, in: db)
        while try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM item") ?? 0 > limit {
            guard
                let oldest = try String.fetchOne(
                    db, sql: "SELECT id FROM folder WHERE id <> ? ORDER BY readAt LIMIT 1", arguments: [folder.text])
            else { break }
            try db.execute(sql: "DELETE FROM item WHERE folder = ?", arguments: [oldest])
            try db.execute(sql: "DELETE FROM folder WHERE id = ?", arguments: [oldest])
        }
        return files
    }

    /// Records that the folder's listing is known.
    static func note(_ folder: ItemID, malformed: Int = 0, now: Date, in db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO folder (id, malformed, readAt) VALUES (?, ?, ?)",
            arguments: [folder.text, malformed, now.timeIntervalSince1970])
    }

    /// Records that the server has an item.
    ///
    /// - Parameter isNew: Whether the server has just created it, so that there is nothing in it.
    static func add(_ item: Item, in folder: ItemID, isNew: Bool, now: Date, to db: Database) throws {
        if item.isFolder, isNew { try note(item.id, now: now, in: db) }
        guard try Int.fetchOne(db, sql: "SELECT 1 FROM folder WHERE id = ?", arguments: [folder.text]) != nil
        else { return }
        try ItemRow(item, in: folder).insert(db, onConflict: .replace)
    }

    /// Records that the server has deleted an item, and everything in it.
    ///
    /// - Returns: The names of our files with its contents.
    static func remove(_ item: ItemID, from db: Database) throws -> [String] {
        let all = try String.fetchAll(
            db,
            sql: """
                WITH RECURSIVE gone(id) AS (
                    VALUES (?) UNION SELECT item.id FROM item JOIN gone ON item.folder = gone.id)
                SELECT id FROM gone
                """, arguments: [item.text])
        var files: [String] = []
        for id in all {
            files += try String.fetchAll(
                db, sql: "SELECT file FROM content WHERE item = ? AND file IS NOT NULL", arguments: [id])
            for statement in [
                "DELETE FROM content WHERE item = ?", "DELETE FROM folder WHERE id = ?",
                "DELETE FROM item WHERE id = ?",
            ] { try db.execute(sql: statement, arguments: [id]) }
        }
        return files
    }

    /// The stored listing of a folder, with what is to be sent there; nil when there is none.
    ///
    /// - Parameter isNew: Whether the folder itself is to be created, so that only what is to be sent is in it.
    static func listing(
        of folder: ItemID, _ states: [Int64: PendingChange.State], isNew: Bool, in db: Database
    ) throws -> Listing? {
        let malformed = try Int.fetchOne(
            db, sql: "SELECT malformed FROM folder WHERE id = ?", arguments: [folder.text])
        guard isNew || malformed != nil else { return nil }
        let items = try ItemRow.filter(Column("folder") == folder.text).fetchAll(db).compactMap(\.item)
        let changes = try ChangeTable.changes(states, in: db, where: "folder = ?", [folder.text])
        let new = changes.filter(\.makesItem).map(\.item)
        return Listing(items: ItemOrder.sorted(items + new), malformed: malformed ?? 0, changes: changes)
    }
}

extension Listing {
    /// The same from another source.
    func from(_ source: AnswerSource) -> Self {
        var listing = self
        listing.source = source
        return listing
    }
}
#endif
