// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import UplinkCore

/// An entry as it is in the database.
struct OutboxRow: Codable, Sendable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "uplink_outbox"

    var id: Int64?
    let outbox: String
    let key: String
    let kind: String
    let payload: Data
    let bytes: Int
    let idempotencyKey: String
    let createdAt: Double
    var attempts = 0
    var lastError: String?
    /// When the last attempt failed, in seconds since 1970 on the wall clock.
    var failedAt: Double?
    /// How many seconds to wait after that.
    var pause: Double?
    var isFailed = false

    /// What the attempts that failed have left.
    struct Failures: Sendable {
        var attempts: Int
        var lastError: String?
        var failedAt: Double?
        var pause: Double?
        var isFailed: Bool
    }

    var failures: Failures {
        get {
            Failures(
                attempts: attempts, lastError: lastError, failedAt: failedAt, pause: pause, isFailed: isFailed)
        }
        set {
            (attempts, lastError, isFailed) = (newValue.attempts, newValue.lastError, newValue.isFailed)
            (failedAt, pause) = (newValue.failedAt, newValue.pause)
        }
    }

    /// How long it rests before it is tried again; nil if it is not.
    var rest: Duration? { isFailed ? nil : .limited(seconds: pause ?? 0) }

    /// The entry after another attempt that ended with this verdict.
    ///
    /// - Parameters:
    ///   - now: Seconds since 1970 on the wall clock.
    ///   - chance: As for ``OutboxBackoff/pause(after:chance:)``.
    func attempted(
        _ verdict: OutboxVerdict, now: Double, _ configuration: OutboxConfiguration, chance: Double
    ) -> OutboxRow {
        var row = self
        row.attempts = min(attempts, .max - 1) + 1  // anyone may have written it
        row.failedAt = now
        switch verdict {
        case .done: break
        case .tryAgain(let reason, let after):
            let backoff = configuration.backoff
            let pause =
                after.map { max($0, backoff.initial) } ?? backoff.pause(after: row.attempts, chance: chance)
            row.pause = min(pause, backoff.maximum) / .seconds(1)
            row.lastError = Self.storable(reason)
            row.isFailed = configuration.maximumAttempts.map { row.attempts >= $0 } ?? false
        case .failed(let reason, _):
            (row.lastError, row.isFailed) = (Self.storable(reason), true)
        }
        return row
    }

    /// A text in which SQLite finds no end before its end.
    private static func storable(_ text: String) -> String { text.replacing("\0", with: "\u{FFFD}") }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

    /// The entry of each key that is sent next.
    static func heads(of outbox: String, in db: Database) throws -> [Head] {
        try Head.fetchAll(
            db,
            sql: """
                SELECT key, MIN(id) AS id, failedAt, pause FROM uplink_outbox
                WHERE outbox = ? AND isFailed = 0 GROUP BY key
                """, arguments: [outbox])
    }

    /// The entry of a key that is sent next; costs the same however many entries the key has.
    static func head(of outbox: String, key: String, in db: Database) throws -> Head? {
        try Head.fetchOne(
            db,
            sql: """
                SELECT key, id, failedAt, pause FROM uplink_outbox
                WHERE outbox = ? AND isFailed = 0 AND key = ? ORDER BY id LIMIT 1
                """, arguments: [outbox, key])
    }

    struct Head: Codable, Sendable, FetchableRecord {
        let key: String
        let id: Int64
        let failedAt: Double?
        let pause: Double?
    }

    /// The numbers of entries and bytes; costs the same however many there are.
    static func totals(of outbox: String, in db: Database) throws -> Totals {
        try Totals.fetchOne(
            db, sql: "SELECT pending, failed, bytes FROM uplink_outbox_totals WHERE outbox = ?", arguments: [outbox])
            ?? Totals()
    }

    struct Totals: Codable, Sendable, Equatable, FetchableRecord {
        var pending = 0
        var failed = 0
        var bytes = 0

        /// Both kinds; a damaged store may claim any numbers.
        var entries: Int {
            let (sum, isTooMuch) = pending.addingReportingOverflow(failed)
            return isTooMuch ? .max : sum
        }
    }
}
#endif
