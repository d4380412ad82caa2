// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB

/// What was known to be in folders when their deletion was decided, as rows, because listings go on changing. They are
/// removed with the change.
enum DoomedTable {
    /// An item that was known.
    struct Known: Sendable {
        let item: Item
        /// Whether the user had looked into it, if it is a folder.
        let isListed: Bool
    }

    /// Records what is known of a folder that is to be deleted.
    static func note(_ folder: String, for entry: Int64, in db: Database) throws {
        try db.execute(
            sql: """
                WITH RECURSIVE inside(id) AS (
                    VALUES (:folder) UNION SELECT item.id FROM item JOIN inside ON item.folder = inside.id)
                INSERT INTO doomed SELECT :entry, item.*, id IN (SELECT id FROM folder)
                    FROM item WHERE id IN (SELECT id FROM inside)
                """, arguments: ["folder": folder, "entry": entry])
    }

    /// What was known to be in a folder.
    static func items(in folder: ItemID, for entry: Int64, in db: Database) throws -> [ItemID: Known] {
        try known("folder", folder, entry, db)
    }

    /// What was known of an item; nil if nothing was.
    static func item(_ id: ItemID, for entry: Int64, in db: Database) throws -> Known? {
        try known("id", id, entry, db)[id]
    }

    private static func known(
        _ column: String, _ id: ItemID, _ entry: Int64, _ db: Database
    ) throws -> [ItemID: Known] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM doomed WHERE entry = ? AND \(column) = ?", arguments: [entry, id.text])
        let known = try rows.compactMap { row in
            try ItemRow(row: row).item.map { Known(item: $0, isListed: row["isListed"]) }
        }
        return Dictionary(known.map { ($0.item.id, $0) }) { first, _ in first }
    }
}
#endif
