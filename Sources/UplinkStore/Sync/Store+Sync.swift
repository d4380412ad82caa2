// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
public import GRDB
import UplinkCore

extension Store {
    /// How often a sync fetches again because its key was cleared meanwhile.
    private static let maximumFetches = 3

    /// Brings a key up to date once, or shares the sync of it that is under way.
    ///
    /// - Parameters:
    ///   - sync: What to sync.
    ///   - force: Whether to fetch although the last sync is more recent than the minimum interval.
    /// - Throws: ``StoreError``, or `CancellationError` when the task is cancelled; the sync itself goes on while others
    ///   want it.
    @discardableResult
    public func sync(_ sync: StoreSync, force: Bool = false) async throws -> StoreSyncOutcome {
        if !force, sync.minimumInterval > .zero {
            let record = try await record(of: sync.key)
            if let age = SyncAge.of(record, now: now()), age < sync.minimumInterval { return .recent(age: age) }
        }
        return try await fly(sync) { _ in }.isNews ? .written : .noNews
    }

    /// Removes a key's data and all that is known of its syncs, in one transaction.
    ///
    /// What a sync that is under way has fetched before is not written: it fetches again.
    ///
    /// - Throws: ``StoreError``; `invalidArgument` when the sync was made without `erase`.
    public func clear(_ sync: StoreSync) async throws {
        guard let erase = sync.erase else {
            throw StoreError(
                .invalidArgument, message: "the sync `\(sync.key)` cannot be cleared; make it with `erase`")
        }
        try await writing("clearing `\(sync.key)`") { db in
            try erase(db)
            var record = try SyncRecord.of(sync.key, in: db)
            record.clear()
            try record.save(db)
        }
    }

    /// Removes what `erase` removes and all that is known of all syncs, in one transaction.
    ///
    /// What syncs that are under way have fetched before is not written: they fetch again.
    ///
    /// - Throws: ``StoreError``.
    public func clearAll(_ erase: @escaping @Sendable (Database) throws -> Void) async throws {
        try await writing("clearing all") { db in
            try erase(db)
            try SyncRecord.clearAll(db)
        }
    }

    /// Shares the key's sync, or starts it.
    func fly(_ sync: StoreSync, listener: @escaping StageBoard.Listener) async throws -> SyncReceipt {
        try await flights.fly(sync.key, listener: listener) { [self] reached in
            for _ in 0..<Self.maximumFetches {
                let (record, epochs) = try await reading("reading about `\(sync.key)`") { db in
                    (try SyncRecord.of(sync.key, in: db), try SyncRecord.epochs(of: sync.key, in: db))
                }
                let news = try await fetch(sync, record.validators, reached)
                if let receipt = try await write(news, of: sync.key, ifStill: epochs) { return receipt }
            }
            throw StoreError(
                .cleared,
                message: "`\(sync.key)` was cleared while it was synced, \(Self.maximumFetches) times; try again")
        }
    }

    func record(of key: String) async throws -> SyncRecord {
        try await reading("reading about `\(key)`") { try SyncRecord.of(key, in: $0) }
    }

    /// Fetches through the performer, which is asked with no patience first, so that "waiting" is said when it is so.
    private func fetch(
        _ sync: StoreSync, _ validators: SyncValidators?, _ reached: @escaping @Sendable (SyncStage) -> Void
    ) async throws -> StoreSync.News? {
        let limit = sync.networkLimit / .seconds(1)
        for seconds in limit > 0 ? [0, limit] : [0] {
            let result = await performer.perform(withinSeconds: seconds, requiring: sync.requirement) {
                reached(.loading)
                return try await sync.fetch(validators)
            }
            switch result {
            case .success(let news):
                return news
            case .failure(.operation(let error)):
                if error is CancellationError, Task.isCancelled { throw error }
                throw error as? StoreError
                    ?? StoreError(
                        .fetchFailed, message: "fetching `\(sync.key)` failed: \(error)", underlyingError: error)
            case .failure(.notStarted(let error)) where error.code == .timedOut && seconds < limit:
                reached(.waiting)
            case .failure(.notStarted(let error)):
                if error.code == .cancelled { throw CancellationError() }
                throw StoreError(
                    .networkUnavailable, message: "`\(sync.key)` was not fetched: \(error)", underlyingError: error)
            }
        }
        throw CancellationError()  // not reached: the last round returns or throws
    }

    /// Writes the news and notes the sync, unless the key was cleared since: then nil.
    private func write(_ news: StoreSync.News?, of key: String, ifStill epochs: [Int64]) async throws -> SyncReceipt? {
        try await writing("writing what was fetched for `\(key)`") { [now] db in
            guard try SyncRecord.epochs(of: key, in: db) == epochs else { return nil }
            try news?.write(db)
            var record = try SyncRecord.of(key, in: db)
            record.number += 1
            record.succeededAt = now().timeIntervalSince1970
            if let news { record.validators = news.validators }
            try record.save(db)
            return SyncReceipt(number: record.number, isNews: news != nil)
        }
    }

    func reading<T: Sendable>(_ activity: String, _ body: @escaping @Sendable (Database) throws -> T) async throws -> T
    {
        try await translating(activity, .readFailed) { try await database.read(body) }
    }

    func writing<T: Sendable>(_ activity: String, _ body: @escaping @Sendable (Database) throws -> T) async throws -> T
    {
        try await translating(activity, .writeFailed) { try await database.write(body) }
    }

    private func translating<T>(
        _ activity: String, _ otherwise: StoreError.Code, _ body: () async throws -> T
    ) async throws -> T {
        do {
            return try await body()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw StoreError.database(error, while: activity, otherwise: otherwise)
        }
    }
}
#endif
