// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB

/// What is known about a key before a fetch, and compared again in the transaction that is to write what the fetch
/// brought.
struct SyncStart: Equatable, Sendable {
    let record: SyncRecord
    /// How often everything was cleared.
    let clearings: Int64

    static func of(_ key: String, in db: Database) throws -> Self {
        Self(
            record: try SyncRecord.of(key, in: db),
            clearings: try SyncRecord.fetchOne(db, key: SyncRecord.idOfAll)?.epoch ?? 0)
    }

    /// What to do with what was fetched.
    enum Decision: Equatable {
        /// Write it.
        case write
        /// Write it, although it was outdated each time or another process had synced; it then counts as never synced,
        /// so that the next sync fetches it in full.
        case writeOutdated
        /// Fetch again, if that is still allowed.
        case fetchAgain
        /// Give up, because everything was cleared, for example on logging out: this fetch and all that it brings are
        /// from before that.
        case giveUp
    }

    /// Whether the key was cleared since. If it was both outdated and synced by another process, that looks the same.
    func isCleared(at now: Self) -> Bool {
        now.record.epoch != record.epoch && now.record.number != record.number
    }

    /// - Parameters:
    ///   - now: What is known in the transaction.
    ///   - isNews: Whether there is data to write.
    ///   - isLast: Whether it cannot be fetched again.
    func decision(at now: Self, isNews: Bool, isLast: Bool) -> Decision {
        if now.clearings != clearings { return .giveUp }
        if isCleared(at: now) { return .fetchAgain }
        // What "no news" refers to may not be what is stored: it was migrated, or written although it was outdated.
        let isForgotten = record.succeededAt != nil && now.record.succeededAt == nil
        if isForgotten, !isNews { return isLast ? .writeOutdated : .fetchAgain }
        // It was outdated, or another process has synced: the server may have been asked before that happened.
        let isOvertaken = now.record.epoch != record.epoch || now.record.number != record.number
        if !isOvertaken || !isNews { return .write }  // "no news" undoes nothing
        return isLast ? .writeOutdated : .fetchAgain
    }
}
#endif
