// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import UplinkCore
import UplinkStore

struct StoredListPendingChanges: ListPendingChanges {
    let files: OfflineStore

    func callAsFunction() async throws -> [PendingChange] { try await files.changes() }
}

struct StoredFollowPendingChanges: FollowPendingChanges {
    let files: OfflineStore

    func callAsFunction() -> AsyncStream<[PendingChange]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [PendingChange].self, bufferingPolicy: .bufferingNewest(1))
        let following = Task { [files] in
            var last: [PendingChange]?
            for await _ in files.outbox.changes {
                guard let changes = try? await files.changes(), changes != last else { continue }
                last = changes
                continuation.yield(changes)
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in following.cancel() }
        return stream
    }
}

struct StoredRetryChange: RetryChange {
    let files: OfflineStore

    func callAsFunction(_ id: PendingChange.ID) async throws {
        for id in try await files.family(of: id) {
            try await OfflineStore.explained { _ = try await files.outbox.retry(id) }
        }
    }
}

struct StoredDiscardChange: DiscardChange {
    let files: OfflineStore

    func callAsFunction(_ id: PendingChange.ID) async throws { try await files.discard([id]) }
}

extension OfflineStore {
    /// A change, and for a new folder everything that is to go into it, the outermost first.
    ///
    /// - Throws: ``FilesError`` when there is no such change.
    func family(of id: PendingChange.ID) async throws -> [PendingChange.ID] {
        let family = try await read { db in
            try Int64.fetchAll(
                db,
                sql: """
                    WITH RECURSIVE family(entry, id) AS (
                        SELECT entry, id FROM change WHERE entry = ?
                        UNION SELECT change.entry, change.id FROM change JOIN family ON change.folder = family.id)
                    SELECT entry FROM family ORDER BY entry
                    """, arguments: [id])
        }
        guard !family.isEmpty else { throw FilesError.noChange(id) }
        return family
    }

    /// Gives changes up, with the files to upload: all of them, or none.
    ///
    /// - Parameters:
    ///   - ids: The changes.
    ///   - write: Writes in the same transaction.
    /// - Throws: ``FilesError``, also when one of them is being sent, or may be by another process, and when what is to
    ///   go into one of them is not given up with it.
    func discard(
        _ ids: [PendingChange.ID], write: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) async throws {
        let outcome = try await Self.explained {
            do {
                return try await outbox.cancel(ids) { [self] db in
                    let changes = try ChangeRow.fetchAll(db, keys: ids)
                    for change in changes { try change.delete(db) }
                    let folders = changes.filter { $0.kind == .newFolder }.map(\.id)
                    let inside = try ChangeRow.filter(folders.contains(Column("folder"))).order(Column("entry"))
                        .fetchAll(db)
                    guard inside.isEmpty else {
                        let others = inside.map { String($0.entry) }.joined(separator: ", ")
                        throw FilesError(
                            .refused, "what is to go into this folder waits too; discard \(others) first")
                    }
                    try write(db)
                    remove(changes.compactMap(\.file), from: uploads, after: db)
                }
            } catch let error as StoreError where error.underlyingError is FilesError {
                throw error.underlyingError ?? error
            } catch let error as StoreError where error.code == .outboxInUse {
                throw FilesError(
                    .busy,
                    "another process is sending what waits, and this may be on its way; try again when it has ended")
            }
        }
        let numbers = ids.map(String.init).joined(separator: ", ")
        switch outcome {
        case .cancelled: return
        case .beingSent where ids.count == 1: throw FilesError(.busy, "change \(numbers) is being sent at this moment")
        case .beingSent:
            throw FilesError(
                .busy, "one of the changes \(numbers) is being sent at this moment, and so none is discarded")
        case .notFound: throw FilesError.noChange(ids[0])
        }
    }

    /// Gives up the change that creates an item, and everything that is to go into it.
    func discardAll(in new: ChangeRow) async throws { try await discard(try await family(of: new.entry)) }
}
#endif
