// SPDX-License-Identifier: Apache-2.0
#if Store
public import Foundation
import GRDB

/// Something to send, which stays in the database until it has been sent.
public struct OutboxEntry: Sendable, Hashable, Identifiable {
    /// Its number in the database, which is never reused, except for an entry whose transaction was rolled back.
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
    /// How many attempts have failed since it was added, or since the last ``Outbox/retry(_:)``.
    public let attempts: Int
    /// Why the last attempt failed, in the words of the handler. (A NUL in them is kept as U+FFFD.)
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
#endif
