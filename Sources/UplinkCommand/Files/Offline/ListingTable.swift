// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB

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
        try makeRoom(upTo: limit, sparing: folder, in: db)
        return files
    }

    /// Removes the least recently read listings. Counts and sorts once: there may be thousands.
    private static func makeRoom(upTo limit: Int, sparing folder: ItemID, in db: Database) throws {
        var excess = (try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM item") ?? 0) - limit
        guard excess > 0 else { return }
        let others = try String.fetchAll(
            db, sql: "SELECT id FROM folder WHERE id <> ? ORDER BY readAt", arguments: [folder.text])
        for oldest in others {
            guard excess > 0 else { return }
            try db.execute(sql: "DELETE FROM item WHERE folder = ?", arguments: [oldest])
            excess -= db.changesCount
            try db.execute(sql: "DELETE FROM folder WHERE id = ?", arguments: [oldest])
        }
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

    /// The folder that an item is in, if a listing with it is stored.
    static func folder(of item: ItemID, in db: Database) throws -> ItemID? {
        try String.fetchOne(db, sql: "SELECT folder FROM item WHERE id = ?", arguments: [item.text])
            .flatMap(ItemID.init)
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
#endif
