// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import UplinkCore
import UplinkStore

/// Sends the entries of the outbox. Each is sent at least once, so a lost answer must do no harm.
struct ChangeSender: Sendable {
    let remote: FilesUseCases
    let files: OfflineStore
    /// The entries that the server has, once that is recorded.
    let sent = Locked<Set<PendingChange.ID>>([])

    /// Sends one entry.
    ///
    /// - Throws: `CancellationError`, or ``FilesError`` when the store fails; the entry stays.
    func send(_ entry: OutboxEntry) async throws -> OutboxVerdict {
        let change = try await files.read { db in try ChangeRow.fetchOne(db, key: entry.id) }
        guard let change else { return .done() }  // was discarded
        guard let item = change.item, let parent = item.parentID else { return .failed(reason: "its row is damaged") }
        let folder = try await files.resolved(parent)
        if let reason = files.reach.recentFailure { return .tryAgain(reason: reason) }
        if let parent = try await files.newItem(folder) {
            return .failed(
                reason: "the folder `\(parent.name)`, change \(parent.entry), is not made yet; retry that one")
        }
        do {
            if change.kind == .deletion {
                let listing = try await remote.list(folder)
                guard let there = listing.items.first(where: { $0.id == item.id }) else {
                    guard listing.malformed > 0 else { return done(change, as: nil) }
                    return conflict(change, "its folder has items that cannot be read, of which it may be one")
                }
                if let surprise = try await surprise(there, change, item) {
                    return conflict(change, "\(surprise); discard this, and delete it anew")
                }
            }
            return done(change, as: try await request(change, item, in: folder))
        } catch let error as FilesError {
            return try await verdict(of: error, change, item, in: folder)
        }
    }

    /// Why what is there is not what was to be deleted; nil if it is.
    private func surprise(_ there: Item, _ change: ChangeRow, _ item: Item) async throws -> String? {
        guard SendingAnswer.isStillMeant(there, as: item) else { return "it has changed on the server since" }
        guard there.isFolder else { return nil }
        return try await DoomedFolder(folder: there, entry: change.entry, remote: remote.list, files: files).surprise()
    }

    private func request(_ change: ChangeRow, _ item: Item, in folder: ItemID) async throws -> Item? {
        switch change.kind {
        case .newFolder: return try await remote.makeFolder(named: item.name, in: folder)
        case .upload:
            let path = files.uploads.path(of: change.file ?? "")
            guard try LocalFile(path).size == item.size else {
                throw FilesError(
                    .localFile, "somebody has changed its copy, `\(path)`; discard this, and upload it anew")
            }
            return try await remote.upload(.file(path), named: item.name, in: folder, progress: nil)
        case .deletion:
            try await remote.delete(item.id)
            return nil
        }
    }

    private func verdict(
        of error: FilesError, _ change: ChangeRow, _ item: Item, in folder: ItemID
    ) async throws -> OutboxVerdict {
        switch SendingAnswer(error, to: change.kind) {
        case .done: return done(change, as: nil)
        case .again(let reason):
            if let reason = ServerReach.reason(error) { files.reach.failed(reason) }
            return .tryAgain(reason: reason)
        case .conflict(let reason): return conflict(change, reason)
        case .look:
            do {
                guard let twin = SendingAnswer.twin(item, among: try await remote.list(folder).items) else {
                    return conflict(change, "the server refuses it (400): the name is taken, or not permitted")
                }
                guard try await isSame(twin, change) else {
                    return conflict(change, "the folder has another file with this name")
                }
                return done(change, as: twin, isNew: false)
            } catch let error as FilesError {
                if case .conflict(let reason) = SendingAnswer(error, to: change.kind) {
                    return conflict(change, reason)
                }
                return .tryAgain(reason: error.message)
            }
        }
    }

    private func done(_ change: ChangeRow, as item: Item?, isNew: Bool = true) -> OutboxVerdict {
        .done { [files, sent] db in
            let path = try ChangeTable.path(of: change.folder, change.name, in: db)
            if let folder = ItemID(change.folder) { try files.outdateListing(of: folder, in: db) }
            let contents = try ChangeTable.sent(change, as: item, isNew: isNew, now: files.now(), in: db)
            files.remove(contents, from: files.contents, after: db)
            files.remove(change.file.map { [$0] } ?? [], from: files.uploads, after: db)
            let news = change.pending(path, .sending)
            db.afterNextTransaction { _ in
                sent.withLock { _ = $0.insert(change.entry) }
                if let news { files.tell(.sent(news)) }
            }
        }
    }

    private func conflict(_ change: ChangeRow, _ reason: String) -> OutboxVerdict {
        .failed(reason: reason) { [files] db in
            let path = try ChangeTable.path(of: change.folder, change.name, in: db)
            guard let news = change.pending(path, .conflict(reason: reason)) else { return }
            db.afterNextTransaction { _ in files.tell(.conflict(news)) }
        }
    }

    /// Whether the server already has the bytes that are to be uploaded.
    private func isSame(_ twin: Item, _ change: ChangeRow) async throws -> Bool {
        guard change.kind == .upload else { return true }
        let own = try LocalFile(files.uploads.path(of: change.file ?? ""))
        do {
            try await remote.read(twin.id, of: twin.size, progress: nil) { bytes in
                guard try await own.next(upTo: bytes.count) == bytes else { throw Difference() }
            }
            return try await own.next(upTo: 1).isEmpty
        } catch is Difference {
            return false
        }
    }

    private struct Difference: Error {}
}
#endif
