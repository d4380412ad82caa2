// SPDX-License-Identifier: Apache-2.0
#if Store
public import GRDB

/// What a handler reports about an entry that it was to send.
public enum OutboxVerdict: Sendable {
    /// The server has it. The entry is removed and its result written in one transaction; if that fails, the entry is
    /// sent again with the same idempotency key.
    case done(write: @Sendable (Database) throws -> Void = { _ in })
    /// It may succeed later: it is tried again after the back-off, or after this time if given (no shorter than the
    /// first pause of the back-off, and no longer than the longest).
    case tryAgain(reason: String, after: Duration? = nil)
    /// It will never succeed. The entry is kept as failed, with the reason, and `write` undoes in the same transaction
    /// what has to be undone; if that fails, the entry is sent again. The key's next entry is sent, unless `write` removes it
    /// (``Outbox/cancelFollowing(_:in:)``).
    case failed(reason: String, write: @Sendable (Database) throws -> Void = { _ in })
}
#endif
