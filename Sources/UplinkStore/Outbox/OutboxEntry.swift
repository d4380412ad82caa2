// SPDX-License-Identifier: Apache-2.0
#if Store
public import Foundation
import GRDB

/// Something to send, which stays in the database until it has been sent.
public struct OutboxEntry: Sendable, Hashable, Identifiable {
    /// Its number in the database, which is never reused.
    public let id: Int64
    /// What it is about. Entries of one key are sent one after another, in the order in which they were added.
    public let key: String
    /// What to do, in the program's own words.
    public let kind: String
    /// What to send.
    public let payload: Data
    /// A UUID that is the same for every attempt, and for no other entry, so that a server can avoid doing the same
    /// twice.
    public let idempotencyKey: String
    /// When it was added, on the wall clock.
    public let createdAt: Date
    /// How many attempts have failed.
    public let attempts: Int
    /// Why the last attempt failed.
    public let lastError: String?
    /// Whether it has been given up, until ``Outbox/retry(_:)``.
    public let isFailed: Bool

    init(_ row: OutboxRow) {
        id = row.id ?? 0
        (key, kind, payload, idempotencyKey) = (row.key, row.kind, row.payload, row.idempotencyKey)
        createdAt = Date(timeIntervalSince1970: row.createdAt)
        (attempts, lastError, isFailed) = (row.attempts, row.lastError, row.isFailed)
    }
}

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
    }
}
#endif
