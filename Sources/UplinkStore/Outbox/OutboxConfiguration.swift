// SPDX-License-Identifier: Apache-2.0
#if Store
public import UplinkCore

/// The limits of an outbox, and how it sends.
public struct OutboxConfiguration: Sendable {
    /// The most entries, including those that have failed for good; one more is `outboxFull`.
    public var maximumEntries = 10_000
    /// The most bytes of all payloads; more is `outboxFull`.
    public var maximumBytes = 64 << 20
    /// The most bytes of one payload; more is `entryTooLarge`. SQLite takes no row of more than 1 GB.
    public var maximumEntryBytes = 1 << 20
    static let largestEntry = 999_000_000  // which leaves room for the rest of the row
    /// How many entries, of different keys, are sent at the same time.
    public var maximumConcurrent = 4
    /// The number of failed attempts after which an entry is given up; nil retries for ever, and keeps the later
    /// entries of its key waiting.
    ///
    /// With a number, the key continues with its next entry after the last attempt, even if the failure was temporary,
    /// and no `write` runs with it. If your entries depend on earlier ones, leave this nil, and when
    /// ``OutboxEntry/attempts`` are enough return `.failed` yourself, with a `write` that removes what follows
    /// (``Outbox/cancelFollowing(_:in:)``).
    public var maximumAttempts: Int?
    /// How long to wait after a failed attempt.
    public var backoff = OutboxBackoff()
    /// What sending needs of the network.
    public var requirement = NetworkRequirement.internet

    /// Creates the default configuration.
    public init() {}

    func validate() throws(StoreError) {
        let smallest = min(maximumEntries, maximumBytes, maximumEntryBytes, maximumConcurrent, maximumAttempts ?? 1)
        guard smallest >= 1, backoff.isValid else {
            throw StoreError(
                .invalidArgument,
                message: "the outbox's limits have to be at least one, and the back-off positive with a factor of at "
                    + "least one and a jitter from zero to one")
        }
    }
}
#endif
