// SPDX-License-Identifier: Apache-2.0
#if Store
public import GRDB

/// What became of sending an entry.
public enum OutboxVerdict: Sendable {
    /// The server has it. The entry is removed, and its result written, in one transaction; if that fails, the entry is
    /// sent again with the same idempotency key.
    case done(write: @Sendable (Database) throws -> Void = { _ in })
    /// It may go better later: after the back-off, or after this time where it is given (no shorter than the first pause of
    /// the back-off, and no longer than the longest).
    case tryAgain(reason: String, after: Duration? = nil)
    /// It will never go. The entry is kept as failed, with the reason, and what is to be undone is written in the same
    /// transaction. The key's next entry is sent, unless `write` removes it (``Outbox/cancelFollowing(_:in:)``).
    case failed(reason: String, write: @Sendable (Database) throws -> Void = { _ in })
}

/// What became of cancelling an entry.
public enum OutboxCancellation: Sendable, Hashable {
    /// It is gone, or all of several are, and was not being sent. An attempt before may have reached the server.
    case cancelled
    /// It, or one of several, is being sent at this moment; all stay.
    case beingSent
    /// There is no such entry: it, or one of several, was sent, or cancelled before; the others stay.
    case notFound
}
#endif
