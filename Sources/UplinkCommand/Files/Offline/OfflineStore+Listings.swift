// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import UplinkCore
import UplinkStore

extension OfflineStore {
    /// The answer to a query after a sync, or without one if the server is not reached.
    ///
    /// - Parameters:
    ///   - key: What is synced.
    ///   - query: Reads the answer; nil if nothing is stored.
    ///   - activity: What is being tried, for the errors.
    ///   - fetch: Asks the server. Its answer is returned even if it cannot be stored.
    ///   - write: Stores the server's answer.
    /// - Throws: ``FilesError``, or `CancellationError`.
    func answer<Value: Equatable & Sendable>(
        for key: String, to query: @escaping @Sendable (Database) throws -> Value?, while activity: String,
        fetch: @escaping @Sendable () async throws -> Value,
        write: @escaping @Sendable (Database, Value) throws -> Void
    ) async throws -> (value: Value, source: AnswerSource) {
        let fetched = Locked<Value?>(nil)
        let sync = StoreSync(
            key, networkLimit: ServerReach.networkLimit, requiring: reach.requirement,
            fetch: {
                let value = try await fetch()
                fetched.withLock { $0 = value }
                return value as Value?
            }, write: write)
        var problem = reach.recentFailure
        let request = problem == nil ? StoreRequest.freshOrStored : .storedOnly
        for await element in store.stream(StoreQuery(key, fetch: query), sync: sync, request: request) {
            switch element {
            case .waiting, .loading: continue
            case .noNews:  // another caller has just synced it
                guard let value = try await read(query) else { continue }
                return (value, .server)
            case .error(let error):
                guard let reason = ServerReach.reason(error) else {
                    // A full disk does not keep anyone from reading the server's answer.
                    if let value = fetched.withLock({ $0 }) { return (value, .server) }
                    if let error = error.underlyingError as? FilesError { throw error }
                    guard request != .storedOnly, [.diskFull, .writeFailed, .readOnly, .locked].contains(error.code)
                    else {
                        throw FilesError(.localFile, "could not \(activity): \(error)")
                    }
                    return (try await fetch(), .server)  // another caller has fetched it
                }
                reach.failed(reason)
                problem = reason
            case .value(let value, let origin):
                guard let value else {
                    throw FilesError(
                        .unreachable, "\(problem ?? "the server was not asked"); and nothing is kept of it")
                }
                guard let problem else { return (value, .server) }
                let stored = StoredAnswer(age: origin.age, reason: problem)
                tell(.stored(stored))
                return (value, .store(stored))
            }
        }
        throw CancellationError()
    }

    /// The folder's listing with what is to be sent in it.
    ///
    /// - Throws: ``FilesError``, or `CancellationError`.
    func listing(of folder: ItemID, from remote: any ListFolder) async throws -> Listing {
        let states = try await states()
        let (folder, isNew) = try await place(folder)
        if isNew {
            let source = StoredAnswer(age: .zero, reason: "the folder is still to be made on the server")
            return try await read { db in
                try ListingTable.listing(of: folder, states, isNew: true, in: db) ?? Listing(items: [], malformed: 0)
            }.from(.store(source))
        }
        let answer = try await answer(
            for: Self.key(ofListing: folder),
            to: { try ListingTable.listing(of: folder, states, isNew: false, in: $0) },
            while: "list the folder", fetch: { try await remote(folder) },
            write: { [self] db, listing in
                let files = try ListingTable.write(listing, of: folder, now: now(), limit: limits.items, in: db)
                remove(files, from: contents, after: db)
            })
        return answer.value.from(answer.source)
    }

    /// Declares that listings which were asked for before are older than what this transaction writes, so that none of
    /// them undoes it.
    func outdateListing(of folder: ItemID, in db: Database) throws {
        try store.outdate(Self.key(ofListing: folder), in: db)
    }

    private static func key(ofListing folder: ItemID) -> String { "items/\(folder)" }

    /// The user.
    ///
    /// - Throws: ``FilesError``, or `CancellationError`.
    func user(from remote: any ReadUser) async throws -> User {
        try await answer(
            for: "me",
            to: { db in
                try Data.fetchOne(db, sql: "SELECT json FROM user").map { try FilesJSON.user(from: Array($0)) }
            }, while: "log in", fetch: { try await remote() },
            write: { db, user in
                try db.execute(
                    sql: "INSERT OR REPLACE INTO user (id, json) VALUES (1, ?)",
                    arguments: [Data(try FilesJSON.encode(user))])
            }
        ).value
    }
}

extension Listing {
    /// The same from another source.
    func from(_ source: AnswerSource) -> Self {
        var listing = self
        listing.source = source
        return listing
    }
}
#endif
