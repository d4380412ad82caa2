// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB

/// The tables beside the store's own, for what was read and what is to be sent.
enum OfflineSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("files-1") { db in
            try db.create(table: "user") { table in
                table.primaryKey("id", .integer)
                table.column("json", .blob).notNull()
            }
            // The folders whose listings were read, and what was in them.
            try db.create(table: "folder") { table in
                table.primaryKey("id", .text)
                table.column("malformed", .integer).notNull()
                table.column("readAt", .double).notNull()
            }
            try db.create(table: "item") { table in
                table.primaryKey("id", .text)
                itemColumns(of: table)
            }
            try db.create(index: "item_folder", on: "item", columns: ["folder"])
            // Files whose content was read; without the name of our copy if it was too large to be stored.
            try db.create(table: "content") { table in
                table.primaryKey("item", .text)
                table.column("file", .text)
                table.column("size", .integer).notNull()
                table.column("readAt", .double).notNull()
                table.column("usedAt", .double).notNull()
            }
            // What is to be sent; the number is that of the outbox's entry.
            try db.create(table: "change") { table in
                table.primaryKey("entry", .integer)
                table.column("kind", .text).notNull()
                table.column("key", .text).notNull()
                table.column("id", .text).notNull().unique()
                itemColumns(of: table)
                table.column("file", .text)
                table.column("madeAt", .double).notNull()
            }
            try db.create(index: "change_folder", on: "change", columns: ["folder"])
            // The server's ids of items that had one of ours.
            try db.create(table: "alias") { table in
                table.autoIncrementedPrimaryKey("number")
                table.column("id", .text).notNull().unique()
                table.column("item", .text).notNull()
            }
        }
        migrator.registerMigration("files-2") { db in
            // What was known to be in folders that are to be deleted, and the folders themselves.
            try db.create(table: "doomed") { table in
                table.column("entry", .integer).notNull().references("change", onDelete: .cascade)
                table.column("id", .text).notNull()
                itemColumns(of: table)
                table.column("isListed", .boolean).notNull()
                table.primaryKey(["entry", "id"])
            }
            try db.create(index: "doomed_folder", on: "doomed", columns: ["entry", "folder"])
        }
        return migrator
    }

    private static func itemColumns(of table: TableDefinition) {
        table.column("folder", .text).notNull()
        table.column("name", .text).notNull()
        table.column("isFolder", .boolean).notNull()
        table.column("seconds", .integer).notNull()
        table.column("nanoseconds", .integer).notNull()
        table.column("size", .integer)
        table.column("contentType", .text)
    }
}

/// A row with the columns of an item.
protocol ItemColumns {
    var id: String { get }
    var folder: String { get }
    var name: String { get }
    var isFolder: Bool { get }
    var seconds: Int64 { get }
    var nanoseconds: Int32 { get }
    var size: Int64? { get }
    var contentType: String? { get }
}

extension ItemColumns {
    /// The item; nil if the row has no valid ids.
    var item: Item? {
        guard let id = ItemID(id), let folder = ItemID(folder) else { return nil }
        return Item(
            id: id, parentID: folder, name: name, isFolder: isFolder,
            modificationDate: Timestamp(seconds: seconds, nanoseconds: nanoseconds), size: size,
            contentType: contentType)
    }
}

/// An item in a folder, as a row has it.
struct ItemRow: ItemColumns, Codable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "item"

    var id: String
    var folder: String
    var name: String
    var isFolder: Bool
    var seconds: Int64
    var nanoseconds: Int32
    var size: Int64?
    var contentType: String?

    init(_ item: Item, in folder: ItemID) {
        (id, self.folder, name, isFolder) = (item.id.text, folder.text, item.name, item.isFolder)
        (seconds, nanoseconds) = (item.modificationDate.seconds, item.modificationDate.nanoseconds)
        (size, contentType) = (item.size, item.contentType)
    }
}

/// A change that is to be sent, beside its entry in the outbox, with which it is written and removed in one
/// transaction.
struct ChangeRow: ItemColumns, Codable, Sendable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "change"

    var entry: Int64
    var kind: PendingChange.Kind
    /// The outbox's key: what is created in a new folder has the folder's key, and so comes after it.
    var key: String
    /// The id of the new item until the server has one for it, or of the item to delete.
    var id: String
    /// The folder where it is, or will be.
    var folder: String
    var name: String
    var isFolder: Bool
    var seconds: Int64
    var nanoseconds: Int32
    var size: Int64?
    var contentType: String?
    /// The name of the file to upload, among our files.
    var file: String?
    /// Seconds since 1970 on the wall clock.
    var madeAt: Double

    init(_ kind: PendingChange.Kind, _ row: ItemRow, entry: Int64, key: String, file: String?, madeAt: Double) {
        (self.kind, self.entry, self.key, self.file, self.madeAt) = (kind, entry, key, file, madeAt)
        (id, folder, name, isFolder) = (row.id, row.folder, row.name, row.isFolder)
        (seconds, nanoseconds, size, contentType) = (row.seconds, row.nanoseconds, row.size, row.contentType)
    }

    func pending(_ path: RemotePath, _ state: PendingChange.State) -> PendingChange? {
        item.map {
            PendingChange(
                id: entry, kind: kind, item: $0, path: path, state: state,
                date: Timestamp(wholeSeconds: madeAt))
        }
    }
}
#endif
