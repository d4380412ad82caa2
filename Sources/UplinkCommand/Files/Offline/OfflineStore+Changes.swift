// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import UplinkCore
import UplinkStore

extension OfflineStore {
    /// The state of each change, by its number.
    func states() async throws -> [Int64: PendingChange.State] {
        let entries = try await Self.explained { try await outbox.entries() }
        guard !entries.isEmpty else { return [:] }
        let sending = await outbox.states.first { _ in true }?.sending ?? []
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.id, Self.state(of: $0, sending)) })
    }

    private static func state(of entry: OutboxEntry, _ sending: Set<Int64>) -> PendingChange.State {
        if entry.isFailed { return .conflict(reason: entry.lastError ?? "the server refuses it") }
        return sending.contains(entry.id) ? .sending : .waiting(problem: entry.lastError)
    }

    /// All changes, the oldest first.
    func changes() async throws -> [PendingChange] {
        let states = try await states()
        return try await read { db in try ChangeTable.changes(states, in: db) }
    }

    /// The server's id of an item that had one of ours.
    func resolved(_ id: ItemID) async throws -> ItemID {
        try await read { db in try ChangeTable.resolved(id, in: db) }
    }

    /// The server's id of a folder, and whether the folder is still to be created there.
    func place(_ id: ItemID) async throws -> (folder: ItemID, isNew: Bool) {
        try await read { db in
            let folder = try ChangeTable.resolved(id, in: db)
            return (folder, try ChangeTable.making(folder, in: db) != nil)
        }
    }

    /// The change that will create an item.
    func newItem(_ id: ItemID) async throws -> ChangeRow? {
        try await read { db in try ChangeTable.making(id, in: db) }
    }

    /// Stores a new file or folder to be created later: its row and the outbox's entry, in one transaction.
    ///
    /// - Parameter draft: The whole file to upload, and its size; nil for a folder.
    /// - Throws: ``FilesError`` when the server would refuse it, or when there is no room.
    func keep(
        named name: String, in folder: ItemID, _ draft: (file: Draft, size: Int64)? = nil, because reason: String
    ) async throws -> Item {
        if let problem = ItemName.problem(with: name) { throw FilesError(.refused, problem) }
        try await draft?.file.seal()
        let kind = draft == nil ? PendingChange.Kind.newFolder : .upload
        let row = ItemRow(
            Item(
                id: .random(), parentID: folder, name: name, isFolder: kind == .newFolder, modificationDate: .now,
                size: draft?.size, contentType: draft == nil ? nil : MediaType.of(name)), in: folder)
        try await enqueue(kind, row, file: draft?.file.name, because: reason) { [limits] row, db in
            try ChangeTable.check(name, in: row.folder, db)
            let waiting = try Int64.fetchOne(db, sql: "SELECT TOTAL(size) FROM change WHERE file IS NOT NULL") ?? 0
            guard waiting + (draft?.size ?? 0) <= limits.uploads else {
                throw FilesError(
                    .localFile, "uploads of \(ByteCount(Int(clamping: waiting))) wait already; send them first")
            }
            return true
        }
        draft?.file.keep()
        guard let item = row.item else { throw FilesError(.notFound, "`\(name)` has no id") }  // not reached
        return item
    }

    /// The pending deletion of an item.
    func deletion(of id: ItemID) async throws -> PendingChange? {
        try await changes().first { $0.kind == .deletion && $0.item.id == id }
    }

    /// Stores a deletion to be done later. One that is already pending is reported once more; one that the server
    /// refused is replaced, because it now applies to the item as it is known now.
    ///
    /// - Throws: ``FilesError`` when nothing is known about the item.
    func keepDeletion(of id: ItemID, because reason: String) async throws {
        let refused = try await deletion(of: id)
        if let refused, !refused.isConflict { return tell(.waits(refused)) }
        guard let row = try await read({ db in try ItemRow.fetchOne(db, key: id.text) }) else {
            throw FilesError(.unreachable, "\(reason); and nothing is kept of the item")
        }
        try await enqueue(.deletion, row, file: nil, replacing: refused?.id, because: reason) { row, db in
            let inside = try ChangeTable.made(in: row.id, db)
            guard inside.isEmpty else {
                let numbers = inside.map(String.init).joined(separator: ", ")
                throw FilesError(.refused, "what is to go into this folder waits; send or discard \(numbers) first")
            }
            // Another process may have been first.
            return try Int.fetchOne(db, sql: "SELECT 1 FROM change WHERE id = ?", arguments: [row.id]) == nil
        }
    }

    /// - Parameters:
    ///   - replaced: A change to give up in the same transaction.
    ///   - check: Whether to store the change; throws if the server would refuse it.
    private func enqueue(
        _ kind: PendingChange.Kind, _ row: ItemRow, file: String?, replacing replaced: PendingChange.ID? = nil,
        because reason: String, check: @escaping @Sendable (ItemRow, Database) throws -> Bool
    ) async throws {
        let insert: @Sendable (Database) throws -> PendingChange? = { [outbox, now] db in
            var row = row
            if let folder = ItemID(row.folder) {
                // The folder may have been created, or given up, while the file was copied.
                row.folder = try ChangeTable.resolved(folder, in: db).text
                guard try row.folder != folder.text || !folder.isOwn || ChangeTable.making(folder, in: db) != nil else {
                    throw FilesError(.notFound, "the folder is given up, and will not be made")
                }
            }
            guard try check(row, db) else { return nil }
            let key = try ChangeTable.key(for: row.folder, in: db)
            let entry = try outbox.enqueue(key: key, kind: kind.rawValue, payload: Data(row.id.utf8), in: db)
            let change = ChangeRow(
                kind, row, entry: entry.id, key: key, file: file, madeAt: now().timeIntervalSince1970)
            try change.insert(db)
            return change.pending(try ChangeTable.path(of: row.folder, row.name, in: db), .waiting(problem: reason))
        }
        let kept = Locked<PendingChange?>(nil)
        if let replaced {
            try await discard([replaced]) { db in
                let change = try insert(db)
                kept.withLock { $0 = change }
            }
        } else {
            let change = try await write(insert)
            kept.withLock { $0 = change }
        }
        if let change = kept.withLock({ $0 }) { tell(.waits(change)) }
    }
}

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
    /// that. What still waits for a folder that has just been created keeps that key, so what comes after it has it too.
    static func key(for folder: String, in db: Database) throws -> String {
        let first = """
            SELECT key FROM change WHERE id = :folder AND kind = 'newFolder' OR folder = :folder ORDER BY entry LIMIT 1
            """
        return try String.fetchOne(db, sql: first, arguments: ["folder": folder]) ?? folder
    }

    /// - Throws: ``FilesError`` when the folder, or one that it is in, is to be deleted, with all that is in it by then.
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

extension ItemID {
    private static let ownPrefix = "ffffffffffff"

    /// Whether it is one of ours, which no server knows.
    var isOwn: Bool { text.hasPrefix(Self.ownPrefix) }

    /// An id of our own.
    static func random() -> Self {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef")
        let text =
            ownPrefix
            + (ownPrefix.count..<length).map { _ in String(digits[Int.random(in: 0..<16, using: &generator)]) }.joined()
        guard let id = Self(text) else { preconditionFailure("40 digits are an id") }
        return id
    }
}
#endif
