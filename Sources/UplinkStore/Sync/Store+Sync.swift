// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
public import GRDB
import UplinkCore

extension Store {
    /// How often a sync fetches at most if its key is cleared meanwhile.
    private static let maximumClearings = 3
    /// How often if the key is outdated meanwhile, which happens once for each change that is sent: that may be a whole
    /// outbox. The same limit applies if another process syncs the key meanwhile, so that two processes that both do so
    /// all the time both finish.
    static let maximumFetches = 20

    /// Brings a key up to date once, or shares its sync that is under way.
    ///
    /// - Parameters:
    ///   - sync: What to sync.
    ///   - force: Whether to fetch even if the last sync is more recent than the minimum interval.
    /// - Throws: ``StoreError``, or `CancellationError` when the task is cancelled; the sync itself goes on as long as
    ///   others wait for it.
    @discardableResult
    public func sync(_ sync: StoreSync, force: Bool = false) async throws -> StoreSyncOutcome {
        try Task.checkCancellation()  // so that nothing is fetched for a moment
        let interval = force ? .zero : sync.minimumInterval
        if interval > .zero {  // without a look at syncs under way, which take longer
            let record = try await record(of: sync.key)
            if let age = SyncAge.of(record, now: now()), age < interval { return .recent(age: age) }
        }
        let receipt = try await join(sync, unlessYoungerThan: interval) { _ in }
        if let age = receipt.age { return .recent(age: age) }
        return receipt.isNews ? .written : .noNews
    }

    /// Removes a key's data and everything known about its syncs, in one transaction.
    ///
    /// A sync that is under way does not write what it fetched before this: it fetches again.
    ///
    /// - Throws: ``StoreError``; `invalidArgument` when the sync was created without `erase`.
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

    /// Removes what `erase` removes and everything known about all syncs, in one transaction.
    ///
    /// Syncs that are under way do not write what they fetched, nor fetch (again), because the user they ask for may
    /// have logged out: they end with ``StoreError/Code/cleared``, also if they wait for the network. Outboxes keep
    /// their entries.
    ///
    /// - Throws: ``StoreError``.
    public func clearAll(_ erase: @escaping @Sendable (Database) throws -> Void) async throws {
        defer { syncs.endEarlierEras() }
        try await writing("clearing all") { [syncs] db in
            try erase(db)
            try SyncRecord.clearAll(db)
            db.afterNextTransaction { _ in syncs.beginEra() }  // before anything else is written
        }
    }

    /// Declares that whatever a sync of the key has fetched so far is older than what this transaction writes, for
    /// example the result of an outbox entry that the server has just accepted.
    ///
    /// A sync that is under way then fetches again, instead of undoing the change. The age of the stored data stays as
    /// it is. A sync that is outdated again and again writes what it fetches the twentieth time, which counts as never
    /// synced.
    ///
    /// - Parameters:
    ///   - key: The sync's key.
    ///   - db: The transaction that writes the change.
    /// - Throws: What GRDB throws, or ``StoreError`` with `invalidArgument` if the key has a NUL.
    public func outdate(_ key: String, in db: Database) throws {
        var record = try SyncRecord.of(key, in: db)
        record.epoch &+= 1
        try record.save(db)
    }

    /// Joins the key's sync, or starts it.
    ///
    /// - Parameter interval: How recent the last sync must be for nothing to be fetched; decided here, because one may
    ///   have ended since the caller looked.
    func join(
        _ sync: StoreSync, unlessYoungerThan interval: Duration, listener: @escaping StageBoard.Listener
    ) async throws -> SyncReceipt {
        while true {
            let receipt = try await joinOnce(sync, unlessYoungerThan: interval, listener: listener)
            guard let age = receipt.age, age >= interval else { return receipt }
            // It was recent enough only for the caller who began.
        }
    }

    private func joinOnce(
        _ sync: StoreSync, unlessYoungerThan interval: Duration, listener: @escaping StageBoard.Listener
    ) async throws -> SyncReceipt {
        try await syncs.join(ExactKey(sync.key), listener: listener) { [self] era, reached in
            var start = try await reading("reading about `\(sync.key)`") { try SyncStart.of(sync.key, in: $0) }
            if let age = SyncAge.of(start.record, now: now()), age < interval {
                return SyncReceipt(number: start.record.number, isNews: false, age: age)
            }
            var clearings = 0
            for round in 1...Self.maximumFetches {
                let news = try await fetch(sync, start.record.validators, in: era, reached)
                let isLast = round == Self.maximumFetches
                switch try await write(news, of: sync.key, in: era, since: start, isLast: isLast) {
                case .done(let receipt): return receipt
                case .again(let now):
                    if start.isCleared(at: now) { clearings += 1 }
                    start = now
                }
                if clearings == Self.maximumClearings { break }
            }
            throw StoreError(
                .cleared, message: "`\(sync.key)` was cleared while it was synced, \(clearings) times; try again")
        }
    }

    func record(of key: String) async throws -> SyncRecord {
        try await reading("reading about `\(key)`") { try SyncRecord.of(key, in: $0) }
    }

    /// Fetches through the performer, as soon as the network is there.
    private func fetch(
        _ sync: StoreSync, _ validators: SyncValidators?, in era: UInt64,
        _ reached: @escaping @Sendable (SyncStage) -> Void
    ) async throws -> StoreSync.News? {
        let result = await performer.perform(
            withinSeconds: sync.networkLimit / .seconds(1), requiring: sync.requirement, waits: { reached(.waiting) }
        ) {
            guard syncs.isCurrent(era) else { throw StoreError.cleared(sync.key) }
            reached(.loading)
            return try await sync.fetch(validators)
        }
        switch result {
        case .success(let news): return news
        case .failure(.operation(let error)):
            if error is CancellationError, Task.isCancelled { throw error }
            throw error as? StoreError
                ?? StoreError(
                    .fetchFailed, message: "fetching `\(sync.key)` failed: \(error)", underlyingError: error)
        case .failure(.notStarted(let error)):
            if error.code == .cancelled { throw CancellationError() }
            throw StoreError(
                .networkUnavailable, message: "`\(sync.key)` was not fetched: \(error)", underlyingError: error)
        }
    }

    private enum Written: Sendable {
        case done(SyncReceipt)
        /// Nothing was written; the next fetch starts from here.
        case again(SyncStart)
    }

    /// Writes the news and records the sync, unless the key was cleared, outdated or synced by another process since.
    private func write(
        _ news: StoreSync.News?, of key: String, in era: UInt64, since start: SyncStart, isLast: Bool
    ) async throws -> Written {
        try await writing("writing what was fetched for `\(key)`") { [now, syncs] db in
            let current = try SyncStart.of(key, in: db)
            // A sync asked for before everything was cleared may have read its start after that.
            let decision =
                syncs.isCurrent(era)
                ? start.decision(at: current, isNews: news != nil, isLast: isLast) : .giveUp
            switch decision {
            case .write, .writeOutdated: break
            case .fetchAgain: return .again(current)
            case .giveUp: throw StoreError.cleared(key)
            }
            try news?.write(db)
            var record = try SyncRecord.of(key, in: db)
            record.number &+= 1  // never too large by itself, but anyone may have written it
            record.succeededAt = now().timeIntervalSince1970
            if let news { record.validators = news.validators }
            if decision == .writeOutdated { record.forgetSyncs() }
            try record.save(db)
            return .done(SyncReceipt(number: record.number, isNews: news != nil))
        }
    }

    func reading<T: Sendable>(_ activity: String, _ body: @escaping @Sendable (Database) throws -> T) async throws -> T
    {
        try await translating(activity, .readFailed) { try await database.read(body) }
    }

    func writing<T: Sendable>(_ activity: String, _ body: @escaping @Sendable (Database) throws -> T) async throws -> T
    {
        try await translating(activity, .writeFailed) { try await database.writeToItsEnd(body) }
    }

    private func translating<T>(
        _ activity: String, _ otherwise: StoreError.Code, _ body: () async throws -> T
    ) async throws -> T {
        do {
            return try await body()
        } catch let error as CancellationError where Task.isCancelled {
            throw error
        } catch {
            throw StoreError.database(error, while: activity, otherwise: otherwise)
        }
    }
}

extension StoreError {
    /// The error of a sync under which everything was cleared.
    static func cleared(_ key: String) -> Self {
        Self(
            .cleared,
            message: "`\(key)` was not written, because everything was cleared while it was synced; sync it anew if it "
                + "is still wanted")
    }
}
#endif
