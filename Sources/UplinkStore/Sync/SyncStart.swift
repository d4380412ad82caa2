// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB

/// What is known of a key before a fetch, and looked at again in the transaction that is to write what it brought.
struct SyncStart: Equatable, Sendable {
    let record: SyncRecord
    /// How often everything was cleared.
    let clearings: Int64

    static func of(_ key: String, in db: Database) throws -> Self {
        Self(
            record: try SyncRecord.of(key, in: db),
            clearings: try SyncRecord.fetchOne(db, key: SyncRecord.idOfAll)?.epoch ?? 0)
    }

    /// What becomes of what was fetched.
    enum Decision: Equatable {
        /// It is written.
        case write
        /// It was outdated each time, or another process had synced. It is written, and counts as never synced, so that the
        /// next sync fetches it whole.
        case writeOutdated
        /// It is fetched again, if it may be.
        case fetchAgain
        /// Everything was cleared, as when somebody logs out. The fetch is that of before, and so is all that it brings.
        case giveUp
    }

    /// Whether the key was cleared since. An outdating and a sync of another process together are taken for that.
    func isCleared(at now: Self) -> Bool {
        now.record.epoch != record.epoch && now.record.number != record.number
    }

    /// - Parameters:
    ///   - now: What is known in the transaction.
    ///   - isNews: Whether there is anything to write.
    ///   - isLast: Whether it cannot be fetched again.
    func decision(at now: Self, isNews: Bool, isLast: Bool) -> Decision {
        if now.clearings != clearings { return .giveUp }
        if isCleared(at: now) { return .fetchAgain }
        // It was outdated, or another process has synced: the server may have been asked before that.
        let isOvertaken = now.record.epoch != record.epoch || now.record.number != record.number
        if !isOvertaken || !isNews { return .write }  // no news takes nothing back
        return isLast ? .writeOutdated : .fetchAgain
    }
}
#endif
