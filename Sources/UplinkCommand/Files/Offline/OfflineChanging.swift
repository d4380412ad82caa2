// SPDX-License-Identifier: Apache-2.0
#if Store
import SystemPackage
import UplinkCore

/// Creates a folder on the server, or stores a pending change to do so.
struct StoredMakeFolder: MakeFolder {
    let remote: any MakeFolder
    let files: OfflineStore

    func callAsFunction(named name: String, in folder: ItemID) async throws -> Item {
        try await files.change(in: folder) { folder in
            try await remote(named: name, in: folder)
        } orKeep: { folder, reason in
            try await files.keep(named: name, in: folder, because: reason)
        }
    }
}

/// Uploads a file, or stores a copy of it to be uploaded later.
struct StoredUploadFile: UploadFile {
    let remote: any UploadFile
    let files: OfflineStore

    func callAsFunction(
        _ source: UploadSource, named name: String, in folder: ItemID, progress: TransferProgress?
    ) async throws -> Item {
        switch source {
        case .file, .bytes:
            return try await files.change(in: folder) { folder in
                try await remote(source, named: name, in: folder, progress: progress)
            } orKeep: { folder, reason in
                let copy = try await copy(of: source)
                defer { copy.file.discard() }
                return try await files.keep(named: name, in: folder, copy, because: reason)
            }
        case .pieces:
            // The pieces come only once, and must still be there if they do not arrive.
            let copy = try await copy(of: source)
            defer { copy.file.discard() }
            return try await files.change(in: folder) { folder in
                try await remote(.file(copy.file.path), named: name, in: folder, progress: progress)
            } orKeep: { folder, reason in
                try await files.keep(named: name, in: folder, copy, because: reason)
            }
        }
    }

    private func copy(of source: UploadSource) async throws -> (file: Draft, size: Int64) {
        let draft = try await files.uploads.draft()
        do { return (draft, try await fill(draft, from: source)) } catch {
            draft.discard()
            throw error
        }
    }

    /// - Returns: The number of bytes.
    private func fill(_ draft: Draft, from source: UploadSource) async throws -> Int64 {
        var size: Int64 = 0
        func add(_ bytes: [UInt8]) async throws {
            size += Int64(bytes.count)
            guard size <= files.limits.upload else {
                throw FilesError(
                    .localFile,
                    "the file is larger than what may wait for the server "
                        + "(\(ByteCount(Int(clamping: files.limits.upload)))); use --online")
            }
            try await draft.write(bytes)
        }
        switch source {
        case .file(let path):
            let file = try LocalFile(path)
            while case let bytes = try await file.next(), !bytes.isEmpty { try await add(bytes) }
            guard file.isUnchanged else {
                throw FilesError(.localFile, "`\(path)` changed while it was copied; try again when it is at rest")
            }
        case .bytes(let bytes): try await add(bytes)
        case .pieces(let pieces):
            for try await bytes in pieces { try await add(bytes) }
            try Task.checkCancellation()  // some sequences end where they are cancelled
        }
        return size
    }
}

/// Deletes an item on the server, or stores a pending change to do so; an item that is still to be created is given up.
struct StoredDeleteItem: DeleteItem {
    let remote: any DeleteItem
    let files: OfflineStore

    func callAsFunction(_ item: ItemID) async throws {
        if let new = try await files.newItem(item) { return try await files.discardAll(in: new) }
        let item = try await files.resolved(item)
        do {
            try await files.reach.ask { try await remote(item) }
            // It is done, and a full disk does not change that.
            try? await files.write { [files] db in
                if let folder = try ListingTable.folder(of: item, in: db) {
                    try files.outdateListing(of: folder, in: db)
                }
                files.remove(try ListingTable.remove(item, from: db), from: files.contents, after: db)
            }
            if let change = try? await files.deletion(of: item) { try? await files.discard([change.id]) }
        } catch let error as ServerNotReached {
            try await files.keepDeletion(of: item, because: error.reason)
        }
    }
}

extension OfflineStore {
    /// Creates something in a folder on the server and records it, or stores a pending change to do so, also if the
    /// folder itself is still to be created.
    ///
    /// - Throws: ``FilesError``, also when the folder is to be deleted; or `CancellationError`.
    func change(
        in folder: ItemID, _ make: (_ folder: ItemID) async throws -> Item,
        orKeep keep: (_ folder: ItemID, _ reason: String) async throws -> Item
    ) async throws -> Item {
        let (folder, isNew) = try await place(folder)
        guard !isNew else { return try await keep(folder, "its folder is still to be made on the server") }
        try await read { db in try ChangeTable.checkStays(folder.text, db) }
        do {
            let item = try await reach.ask { try await make(folder) }
            // It has been created, and a full disk does not change that.
            try? await write { [self] db in
                try outdateListing(of: folder, in: db)
                try ListingTable.add(item, in: folder, isNew: true, now: now(), to: db)
            }
            return item
        } catch let error as ServerNotReached {
            return try await keep(folder, error.reason)
        }
    }
}
#endif
