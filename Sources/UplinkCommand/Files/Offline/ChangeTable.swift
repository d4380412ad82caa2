// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB

/// Changes as rows.
enum ChangeTable {
    /// The changes that meet a condition, the oldest first. One whose state is not known has just been added.
    static func changes(
        _ states: [Int64: PendingChange.State], in db: Database, where condition: String = "TRUE",
        _ arguments: StatementArguments = []
    ) throws -> [PendingChange] {
        let rows = try ChangeRow.filter(sql: condition, arguments: arguments).order(Column("entry")).fetchAll(db)
        return try rows.compactMap { row in
            row.pending(try path(of: row.folder, row.name, in: db), states[row.entry] ?? .waiting(problem: nil))
        }
    }

    static func resolved(_ id: ItemID, in db: Database) throws -> ItemID {
        try String.fetchOne(db, sql: "SELECT item FROM alias WHERE id = ?", arguments: [id.text])
            .flatMap { ItemID($0) } ?? id
    }

    static func making(_ id: ItemID, in db: Database) throws -> ChangeRow? {
        try ChangeRow.filter(Column("id") == id.text && Column("kind") != PendingChange.Kind.deletion.rawValue)
            .fetchOne(db)
    }

    /// The changes that create something in a folder, at any depth.
    static func made(in folder: String, _ db: Database) throws -> [Int64] {
        try Int64.fetchAll(
            db,
            sql: """
                WITH RECURSIVE inside(id) AS (
                    VALUES (?) UNION SELECT item.id FROM item JOIN inside ON item.folder = inside.id)
                SELECT entry FROM change WHERE kind <> 'deletion' AND folder IN (SELECT id FROM inside) ORDER BY entry
                """, arguments: [folder])
    }

    /// The outbox's key for changes in a folder: these are made in order, and in a folder still to be created, after
    /// that. What still waits for a folder that has just been created keeps that key, so what comes after it has it
    /// too.
    static func key(for folder: String, in db: Database) throws -> String {
        let first = """
            SELECT key FROM change WHERE id = :folder AND kind = 'newFolder' OR folder = :folder ORDER BY entry LIMIT 1
            """
        return try String.fetchOne(db, sql: first, arguments: ["folder": folder]) ?? folder
    }

    /// - Throws: ``FilesError`` when the folder, or one that it is in, is to be deleted, with all that is in it by
    ///   then.
    static func checkStays(_ folder: String, _ db: Database) throws {
        let deletion = try Row.fetchOne(
            db,
            sql: """
                WITH RECURSIVE way(id) AS (
                    VALUES (?) UNION SELECT item.folder FROM item JOIN way ON item.id = way.id)
                SELECT entry, name FROM change WHERE kind = 'deletion' AND id IN (SELECT id FROM way)
                """, arguments: [folder])
        guard let deletion else { return }
        let (entry, name) = (deletion["entry"] as Int64, deletion["name"] as String)
        throw FilesError(
            .refused, "the folder `\(name)`, change \(entry), is to be deleted with what is in it; discard that first")
    }

    /// - Throws: ``FilesError`` when the folder is known to have an item of this name, or is to be deleted.
    static func check(_ name: String, in folder: String, _ db: Database) throws {
        try checkStays(folder, db)
        let taken = """
            SELECT 1 FROM item WHERE folder = :folder AND name = :name
                AND id NOT IN (SELECT id FROM change WHERE kind = 'deletion')
            UNION SELECT 1 FROM change WHERE folder = :folder AND name = :name AND kind <> 'deletion'
            """
        guard try Int.fetchOne(db, sql: taken, arguments: ["folder": folder, "name": name]) == nil else {
            throw FilesError(.refused, "the folder has an item `\(name)`, or is to have one; choose another name")
        }
    }

    /// The path of an item, as far as it is known.
    static func path(of folder: String, _ name: String, in db: Database) throws -> RemotePath {
        var (names, next) = ([name], folder)
        for _ in 0..<256 {
            guard
                let row = try Row.fetchOne(
                    db,
                    sql: """
                        SELECT name, folder FROM item WHERE id = :id
                        UNION SELECT name, folder FROM change WHERE id = :id AND kind = 'newFolder'
                        """, arguments: ["id": next])
            else { break }
            names.append(row["name"])
            next = row["folder"]
        }
        return RemotePath(names: names.reversed())
    }

    /// Records that the server has made a change, in the transaction that removes the outbox's entry.
    ///
    /// - Parameters:
    ///   - item: The item that the server has created.
    ///   - isNew: Whether the server has just created it, so that there is nothing in it.
    /// - Returns: The names of our content files that are of no use any more.
    static func sent(
        _ change: ChangeRow, as item: Item?, isNew: Bool, now: Date, in db: Database
    ) throws -> [String] {
        try change.delete(db)
        guard let item, let folder = ItemID(change.folder) else {
            return try ItemID(change.id).map { try ListingTable.remove($0, from: db) } ?? []
        }
        try ListingTable.add(item, in: folder, isNew: isNew, now: now, to: db)
        try db.execute(
            sql: "INSERT OR REPLACE INTO alias (id, item) VALUES (?, ?)", arguments: [change.id, item.id.text])
        // A screen that shows a folder may ask for it by its old id for some time yet, but not for ever.
        try db.execute(sql: "DELETE FROM alias WHERE number <= (SELECT MAX(number) FROM alias) - 10000")
        try db.execute(
            sql: "UPDATE change SET folder = ? WHERE folder = ?", arguments: [item.id.text, change.id])
        return []
    }
}
#endif
