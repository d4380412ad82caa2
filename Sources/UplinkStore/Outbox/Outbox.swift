// SPDX-License-Identifier: Apache-2.0
#if Store
public import Foundation
public import GRDB
import UplinkCore

/// A durable queue of what is to be sent: it survives the process and a power cut, and is sent when the network is there.
///
/// ```swift
/// let outbox = try Outbox(store)
/// try await outbox.enqueue(key: note.id, kind: "rename", payload: data)
/// try await outbox.run { entry in try await send(entry) }  // in a task of its own
/// ```
///
/// Entries of a key are sent in order, one at a time; of different keys, several at once. Each is sent at least once: a
/// process that dies between the server's answer and its note sends it again, with the same idempotency key. One process
/// at a time runs an outbox. It is not told of what others add, and they can neither cancel nor retry meanwhile. All
/// objects with one name and one store are the same outbox; limits and back-off are those of the object that is asked.
public final class Outbox: Sendable {
    /// The outbox's name in its store.
    public let name: String
    let store: Store
    let configuration: OutboxConfiguration
    let core: Locked<OutboxCore>

    /// Makes an outbox; what is in the store under this name belongs to it.
    ///
    /// - Throws: ``StoreError`` with `invalidArgument` when a limit makes no sense, or the name contains a NUL.
    public init(
        _ store: Store, name: String = "outbox", configuration: OutboxConfiguration = OutboxConfiguration()
    ) throws(StoreError) {
        try configuration.validate()
        try StoreError.refuseNUL(in: name, "the name of an outbox")
        self.store = store
        self.name = name
        self.configuration = configuration
        core = store.outbox(name)
    }

    /// Adds an entry in a transaction of its own. When this returns, the entry survives a power cut.
    ///
    /// - Throws: ``StoreError``: `outboxFull`, `entryTooLarge`, `invalidArgument` for a key or kind that contains a NUL,
    ///   or why it could not be written.
    @discardableResult
    public func enqueue(key: String, kind: String = "", payload: Data) async throws -> OutboxEntry {
        try await store.writing("adding to the outbox `\(name)`") { [self] db in
            try enqueue(key: key, kind: kind, payload: payload, in: db)
        }
    }

    /// Adds an entry in the caller's transaction, with what else changes in it; in one of its own where there is none. It
    /// is sent after the commit. The database is the store's own; what another connection adds is sent with the next change.
    ///
    /// - Throws: ``StoreError``: `outboxFull`, `entryTooLarge`, `invalidArgument` for a key or kind that contains a NUL;
    ///   what GRDB throws.
    @discardableResult
    public func enqueue(key: String, kind: String = "", payload: Data, in db: Database) throws -> OutboxEntry {
        try StoreError.refuseNUL(in: key, "the key of an outbox's entry")
        try StoreError.refuseNUL(in: kind, "the kind of an outbox's entry")
        guard payload.count <= configuration.maximumEntryBytes else {
            throw StoreError(
                .entryTooLarge,
                message: "the entry has \(payload.count) bytes; the outbox `\(name)` takes "
                    + "\(configuration.maximumEntryBytes)")
        }
        var row = OutboxRow(
            outbox: name, key: key, kind: kind, payload: payload, bytes: payload.count,
            idempotencyKey: UUID().uuidString, createdAt: store.now().timeIntervalSince1970)
        try db.inSavepoint {
            try checkRoom(for: payload, in: db)
            try row.insert(db)
            tellAfterCommit(of: key, in: db)
            return .commit
        }
        return OutboxEntry(row)
    }

    private func checkRoom(for payload: Data, in db: Database) throws {
        let totals = try OutboxRow.totals(of: name, in: db)
        guard totals.pending + totals.failed < configuration.maximumEntries,
            payload.count <= configuration.maximumBytes - totals.bytes
        else {
            throw StoreError(
                .outboxFull,
                message:
                    "the outbox `\(name)` holds \(totals.pending + totals.failed) entries of \(totals.bytes) bytes; "
                    + "let it send some, or allow more")
        }
    }

    /// What is in the outbox, the oldest first.
    ///
    /// - Throws: ``StoreError``.
    public func entries() async throws -> [OutboxEntry] {
        try await store.reading("listing the outbox `\(name)`") { [name] db in
            try OutboxRow.filter(Column("outbox") == name).order(Column("id")).fetchAll(db).map(OutboxEntry.init)
        }
    }

    /// Removes an entry, unless it is being sent at this moment.
    ///
    /// - Parameters:
    ///   - id: Which entry.
    ///   - write: Takes back what was written with the entry, in the transaction that removes it.
    /// - Throws: ``StoreError``: `outboxInUse` while another process runs the outbox, since that one alone knows what it
    ///   sends; or why it could not be written. The entry stays then.
    @discardableResult
    public func cancel(
        _ id: OutboxEntry.ID, write: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) async throws -> OutboxCancellation {
        try await cancel([id], write: write)
    }

    /// Removes several entries in one transaction: all of them, or none where one is being sent or is not there.
    ///
    /// - Parameters:
    ///   - ids: Which entries.
    ///   - write: Takes back what was written with the entries, in the same transaction.
    /// - Throws: ``StoreError``, as for one entry; all stay then.
    @discardableResult
    public func cancel(
        _ ids: [OutboxEntry.ID], write: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) async throws -> OutboxCancellation {
        let right = try await beginChange()
        defer { endChange(right) }
        let ids = Set(ids)
        guard core.withLock({ $0.machine.withdraw(ids) }) == .granted else { return .beingSent }
        defer { tell { core in for id in ids { core.machine.withdrawalEnded(id) } } }
        return try await store.writing("cancelling entries of the outbox `\(name)`") { [self] db in
            let rows = try ids.compactMap { try row($0, in: db) }
            guard rows.count == ids.count else { return .notFound }
            for row in rows {
                try row.delete(db)
                tellAfterCommit(of: row.key, in: db)
            }
            try write(db)
            return .cancelled
        }
    }

    /// Removes the entries of a key that come after one, also those that failed: for those that make no sense without it.
    ///
    /// For the `write` of the entry's verdict: only while an entry is being sent is none that comes after it.
    ///
    /// ```swift
    /// return .failed(reason: "refused") { db in try outbox.cancelFollowing(entry, in: db) }
    /// ```
    ///
    /// - Parameters:
    ///   - entry: The entry whose verdict is written; it stays itself.
    ///   - db: The verdict's transaction.
    /// - Returns: How many were removed.
    /// - Throws: ``StoreError`` with `invalidArgument` when this process does not send the entry at this moment; what GRDB
    ///   throws.
    @discardableResult
    public func cancelFollowing(_ entry: OutboxEntry, in db: Database) throws -> Int {
        guard core.withLock({ $0.machine.sending.contains(entry.id) }) else {
            throw StoreError(
                .invalidArgument,
                message: "the entry \(entry.id) of the outbox `\(name)` is not being sent here; cancel what follows it "
                    + "in the `write` of its verdict, or by `cancel`")
        }
        tellAfterCommit(of: entry.key, in: db)
        let following = Column("outbox") == name && Column("key") == entry.key && Column("id") > entry.id
        return try OutboxRow.filter(following).deleteAll(db)
    }

    /// What keeps other processes from running the outbox while entries are changed.
    enum ChangeRight {
        /// They do not have this database.
        case inMemory
        /// This process runs it, and goes on to hold its lock until ``endChange(_:)``.
        case besideRun
        /// A lock of our own.
        case locked(OutboxLock)
    }

    /// - Parameter pause: Between two looks at a lock that this process may be about to let go of, or to know of.
    func beginChange(
        pause: () async throws -> Void = { try await Task.sleep(for: OutboxLock.pause) }
    ) async throws -> ChangeRight {
        guard let path = store.realPath else { return .inMemory }
        while true {
            let wasOurs = isClaimed
            if core.withLock({ $0.changeBegins() }) { return .besideRun }
            if let lock = try OutboxLock.changing(name, beside: path) { return .locked(lock) }
            // It may be this process that is about to run it, or has just ended.
            guard wasOurs || isClaimed else { throw OutboxLock.inUse(name) }
            try await pause()
        }
    }

    func endChange(_ right: ChangeRight) {
        switch right {
        case .inMemory: break
        case .besideRun: core.withLock { $0.changeEnds() }
        case .locked(let lock): withExtendedLifetime(lock) {}
        }
    }

    /// Whether a call of this process runs the outbox, or is about to.
    private var isClaimed: Bool { store.running.withLock { $0.contains(name) } }

    /// Has an entry that failed, or rests, be tried again at once, in its place in the order.
    ///
    /// - Returns: Whether there is such an entry.
    /// - Throws: ``StoreError``: `outboxInUse` while another process runs the outbox, since that one would not learn of it;
    ///   or why it could not be written.
    @discardableResult
    public func retry(_ id: OutboxEntry.ID) async throws -> Bool {
        let right = try await beginChange()
        defer { endChange(right) }
        return try await store.writing("trying an entry of the outbox `\(name)` again") { [self] db in
            guard var row = try row(id, in: db) else { return false }
            (row.isFailed, row.failedAt, row.pause, row.attempts) = (false, nil, nil, 0)
            try row.update(db)
            tellAfterCommit(of: row.key, in: db, retried: id)
            return true
        }
    }

    /// What the outbox holds and does, now and after each change.
    public var states: OutboxStates { OutboxStates(outbox: self) }

    func row(_ id: Int64, in db: Database) throws -> OutboxRow? {
        try OutboxRow.filter(Column("id") == id && Column("outbox") == name).fetchOne(db)
    }

    /// A key's first entry may be another one after this transaction, whether or not this object is still there.
    private func tellAfterCommit(of key: String, in db: Database, retried id: Int64? = nil) {
        // Each who waits for a transaction's end costs at each statement in it.
        guard core.withLock({ $0.changes(key, retried: id) }) else { return }
        db.afterNextTransaction { [core] _ in
            let wakes = core.withLock { core in
                core.transactionEnded(isCommitted: true)
                return core.wakes
            }
            for wake in wakes { wake() }
        } onRollback: { [core] _ in
            core.withLock { $0.transactionEnded(isCommitted: false) }
        }
    }
}
#endif
