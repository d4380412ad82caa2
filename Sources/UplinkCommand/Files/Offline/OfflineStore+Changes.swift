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
            if kind == .deletion, row.isFolder { try DoomedTable.note(row.id, for: entry.id, in: db) }
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
#endif
