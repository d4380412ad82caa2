// SPDX-License-Identifier: Apache-2.0
#if Store
public import GRDB
public import UplinkCore

/// How a key's data is brought up to date: a fetch over the network, and a transaction that writes what it brought.
///
/// Syncs of the same key are the same sync: while one runs, later callers share it, both fetch and write. So a key must
/// include everything that distinguishes the data, including whose it is. A key that contains a NUL is refused
/// (`invalidArgument`) when it is used.
public struct StoreSync: Sendable {
    /// Fetches the news; returns nil if there is none.
    typealias Fetch = @Sendable (SyncValidators?) async throws -> News?

    struct News: Sendable {
        var validators: SyncValidators?
        let write: @Sendable (Database) throws -> Void
    }

    /// What is synced.
    public let key: String
    /// How long to wait for the network. The limit of the caller that starts a sync also applies to those that join it.
    public var networkLimit: Duration
    /// What the fetch needs of the network.
    public var requirement: NetworkRequirement
    /// For how long after a sync no other is needed, unless it is forced.
    public var minimumInterval: Duration
    let fetch: Fetch
    let erase: (@Sendable (Database) throws -> Void)?

    init(
        key: String, networkLimit: Duration, requirement: NetworkRequirement, minimumInterval: Duration,
        erase: (@Sendable (Database) throws -> Void)?, fetch: @escaping Fetch
    ) {
        self.key = key
        self.networkLimit = networkLimit
        self.requirement = requirement
        self.minimumInterval = minimumInterval
        self.erase = erase
        self.fetch = fetch
    }

    /// Creates a sync with a fetch of the program's own.
    ///
    /// - Parameters:
    ///   - key: What is synced.
    ///   - networkLimit: How long to wait for the network; the fetch takes the time it takes.
    ///   - requirement: What the fetch needs of the network.
    ///   - minimumInterval: For how long after a sync no other is needed.
    ///   - fetch: Returns the data, or nil when there is no news. It is cancelled when no one wants it any more.
    ///   - write: Writes the data, in one transaction with the store's own record of the sync. Any error it throws
    ///     rolls back both.
    ///   - erase: Removes the data from the database; what ``Store/clear(_:)`` calls.
    public init<Fetched: Sendable>(
        _ key: String, networkLimit: Duration = .seconds(30), requiring requirement: NetworkRequirement = .internet,
        minimumInterval: Duration = .zero, fetch: @escaping @Sendable () async throws -> Fetched?,
        write: @escaping @Sendable (Database, Fetched) throws -> Void,
        erase: (@Sendable (Database) throws -> Void)? = nil
    ) {
        self.init(
            key: key, networkLimit: networkLimit, requirement: requirement, minimumInterval: minimumInterval,
            erase: erase
        ) { _ in
            guard let fetched = try await fetch() else { return nil }
            return News { db in try write(db, fetched) }
        }
    }
}

/// The result of a sync that succeeded.
public enum StoreSyncOutcome: Sendable, Hashable {
    /// The fetch brought data, and it was written.
    case written
    /// The fetch said that there is no news.
    case noNews
    /// Nothing was fetched: the last sync was this long ago, which is less than the sync's minimum interval.
    case recent(age: Duration)
}
#endif
