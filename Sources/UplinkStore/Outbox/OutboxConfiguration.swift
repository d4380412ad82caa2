// SPDX-License-Identifier: Apache-2.0
#if Store
public import UplinkCore

/// What an outbox holds and how it sends.
public struct OutboxConfiguration: Sendable {
    /// The most entries, those that failed for good included; one more is `outboxFull`.
    public var maximumEntries = 10_000
    /// The most bytes of all payloads; more is `outboxFull`.
    public var maximumBytes = 64 << 20
    /// The most bytes of one payload; more is `entryTooLarge`.
    public var maximumEntryBytes = 1 << 20
    /// How many entries, of different keys, are sent at once.
    public var maximumConcurrent = 4
    /// After how many failed attempts an entry is not tried any more; nil tries for ever, with its key behind it.
    ///
    /// With a number, the key goes on to its next entry after the last attempt, though that failed for a reason that may
    /// pass, and nothing is written with it. A handler whose entries need those before them leaves this nil, and gives up
    /// by itself where it wants to: `.failed`, with a `write` that removes what follows (``Outbox/cancelFollowing(_:in:)``),
    /// when ``OutboxEntry/attempts`` are enough.
    public var maximumAttempts: Int?
    /// How long to wait after a failed attempt.
    public var backoff = OutboxBackoff()
    /// What sending needs of the network.
    public var requirement = NetworkRequirement.internet

    /// The defaults.
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

/// How long an entry rests after a failed attempt: longer each time, up to a maximum, and not the same for all.
public struct OutboxBackoff: Sendable, Hashable {
    /// After the first attempt; also the shortest pause that a handler can ask for.
    public var initial: Duration
    /// Multiplies the pause after each further attempt.
    public var factor: Double
    /// The longest pause, also where a handler asks for a longer one.
    public var maximum: Duration
    /// Which share of the pause is left to chance, from 0 to 1, so that many devices do not come back at once.
    public var jitter: Double

    /// Makes a back-off.
    public init(
        initial: Duration = .seconds(1), factor: Double = 2, maximum: Duration = .seconds(300), jitter: Double = 0.3
    ) {
        self.initial = initial
        self.factor = factor
        self.maximum = maximum
        self.jitter = jitter
    }

    var isValid: Bool { initial > .zero && maximum >= initial && factor >= 1 && (0...1).contains(jitter) }

    /// The pause after so many failed attempts.
    ///
    /// - Parameter chance: From 0 to 1.
    func pause(after attempts: Int, chance: Double) -> Duration {
        var pause = initial / .seconds(1)
        let limit = maximum / .seconds(1)
        for _ in 1..<max(1, attempts) where pause < limit { pause *= factor }
        return .limited(seconds: min(pause, limit) * (1 - jitter * chance))
    }

    /// What is left of a pause that began at `failedAt`, by a wall clock that may have been set since: never more than
    /// the pause.
    static func remainder(of pause: Double?, since failedAt: Double?, now: Double) -> Duration {
        guard let pause, let failedAt else { return .zero }
        return .limited(seconds: min(max(failedAt + pause - now, 0), pause))
    }
}
#endif
