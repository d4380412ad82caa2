// SPDX-License-Identifier: Apache-2.0
#if Store
public import Foundation
public import GRDB
import UplinkCore

/// A durable queue of what is to be sent: its entries survive the process and a power cut, and are sent when the
/// network is there.
///
/// ```swift
/// let outbox = try Outbox(store)
/// try await outbox.enqueue(key: note.id, kind: "rename", payload: data)
/// try await outbox.run { entry in try await send(entry) }  // in a task of its own
/// ```
///
/// The entries of one key are sent in order, one at a time; entries of different keys are sent in parallel. Each is
/// sent at least once: if a process dies between the server's answer and recording it, the entry is sent again, with
/// the same idempotency key. One process at a time runs an outbox. It looks for entries that others have added when it
/// has sent what it knew of, and others can neither cancel nor retry meanwhile. All objects with the same name and
/// store are the same outbox; limits and back-off are those of the object that is asked.
public final class Outbox: Sendable {
    /// The outbox's name in its store.
    public let name: String
    let store: Store
    let configuration: OutboxConfiguration
    let core: Locked<OutboxCore>

    /// Creates an outbox; what the store has under this name belongs to it.
    ///
    /// - Throws: ``StoreError`` with `invalidArgument` when a limit is invalid, or the name contains a NUL.
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
    /// - Throws: ``StoreError``: `outboxFull`, `entryTooLarge`, `invalidArgument` for a key or kind that contains a
    ///   NUL, or why it could not be written.
    @discardableResult
    public func enqueue(key: String, kind: String = "", payload: Data) async throws -> OutboxEntry {
        try await store.writing("adding to the outbox `\(name)`") { [self] db in
            try enqueue(key: key, kind: kind, payload: payload, in: db)
        }
    }

    /// Adds an entry in the caller's transaction, together with whatever else changes there; in one of its own if there
    /// is none. It is sent after the commit. The database must be the store's own; an entry that another connection
    /// adds is sent with its key's next change, or when everything else has been sent that was added meanwhile, or by
    /// the next run.
    ///
    /// - Throws: ``StoreError``: `outboxFull`, `entryTooLarge`, `invalidArgument` for a key or kind that contains a
    ///   NUL; what GRDB throws.
    @discardableResult
    public func enqueue(key: String, kind: String = "", payload: Data, in db: Database) throws -> OutboxEntry {
        try StoreError.refuseNUL(in: key, "the key of an outbox's entry")
        try StoreError.refuseNUL(in: kind, "the kind of an outbox's entry")
        let maximum = min(configuration.maximumEntryBytes, OutboxConfiguration.largestEntry)
        guard payload.count <= maximum else {
            throw StoreError(
                .entryTooLarge,
                message: "the entry has \(payload.count) bytes; the outbox `\(name)` takes \(maximum)")
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
        guard totals.entries < configuration.maximumEntries,
            payload.count <= configuration.maximumBytes - max(0, totals.bytes)
        else {
            throw StoreError(
                .outboxFull,
                message: "the outbox `\(name)` holds \(totals.entries) entries of \(totals.bytes) bytes; let it send "
                    + "some, or allow more")
        }
    }

    /// Returns the entries of the outbox, the oldest first.
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
    ///   - id: The entry.
    ///   - write: Undoes what was written with the entry, in the transaction that removes it.
    /// - Throws: ``StoreError``: `outboxInUse` while another process runs the outbox, because only that process knows
    ///   what it is sending; or why it could not be written. The entry then stays.
    @discardableResult
    public func cancel(
        _ id: OutboxEntry.ID, write: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) async throws -> OutboxCancellation {
        try await cancel([id], write: write)
    }

    /// Removes several entries in one transaction: all of them, or none if one is being sent or is not there.
    ///
    /// - Parameters:
    ///   - ids: The entries.
    ///   - write: Undoes what was written with the entries, in the same transaction.
    /// - Throws: ``StoreError``, as for one entry; all then stay.
    @discardableResult
    public func cancel(
        _ ids: [OutboxEntry.ID], write: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) async throws -> OutboxCancellation {
        let right = try await beginEdit()
        defer { endEdit(right) }
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

    /// Removes the later entries of an entry's key, failed ones included, when they make no sense without it.
    ///
    /// Call it in the `write` of the entry's verdict: only while an entry is being sent is it certain that no later one
    /// is.
    ///
    /// ```swift
    /// return .failed(reason: "refused") { db in try outbox.cancelFollowing(entry, in: db) }
    /// ```
    ///
    /// - Parameters:
    ///   - entry: The entry whose verdict is being written; it is not removed itself.
    ///   - db: The verdict's transaction.
    /// - Returns: How many were removed.
    /// - Throws: ``StoreError`` with `invalidArgument` when this process is not sending the entry at this moment; what
    ///   GRDB throws.
    @discardableResult
    public func cancelFollowing(_ entry: OutboxEntry, in db: Database) throws -> Int {
        guard core.withLock({ $0.machine.sending.contains(entry.id) }) else {
            throw StoreError(
                .invalidArgument,
                message: "the entry \(entry.id) of the outbox `\(name)` is not being sent here; cancel what follows it "
                    + "in the `write` of its verdict, or by `cancel`")
        }
        let following = Column("outbox") == name && Column("key") == entry.key && Column("id") > entry.id
        // First, because only this throws where nothing can be written.
        let removed = try OutboxRow.filter(following).deleteAll(db)
        tellAfterCommit(of: entry.key, in: db)
        return removed
    }

    /// What keeps other processes from running the outbox while entries are changed.
    enum EditRight {
        /// Nothing: they cannot open this database.
        case inMemory
        /// The lock of this process's own run, which keeps it until ``endEdit(_:)``.
        case besideRun
        /// A lock of our own.
        case locked(OutboxLock)
    }

    /// - Parameter pause: Called between two looks at a lock that this process may be about to release, or about to
    ///   register as its run's.
    func beginEdit(
        pause: () async throws -> Void = { try await Task.sleep(for: OutboxLock.pause) }
    ) async throws -> EditRight {
        guard let path = store.realPath else { return .inMemory }
        while true {
            let wasOurs = isClaimed
            if core.withLock({ $0.editBegins() }) { return .besideRun }
            if let lock = try OutboxLock.changing(name, beside: path) { return .locked(lock) }
            // It may be this process that is about to run it, or has just stopped.
            guard wasOurs || isClaimed else { throw OutboxLock.inUse(name) }
            try await pause()
        }
    }

    func endEdit(_ right: EditRight) {
        switch right {
        case .inMemory: break
        case .besideRun: core.withLock { $0.editEnds() }
        case .locked(let lock): withExtendedLifetime(lock) {}
        }
    }

    /// Whether a call of this process runs the outbox, or is about to.
    private var isClaimed: Bool { store.running.withLock { $0.contains(ExactKey(name)) } }

    /// Schedules a failed or resting entry to be tried again immediately, in its place in the order, with all its
    /// attempts before it.
    ///
    /// - Returns: Whether the outbox has this entry.
    /// - Throws: ``StoreError``: `outboxInUse` while another process runs the outbox, because that process would not
    ///   learn of it; or why it could not be written.
    @discardableResult
    public func retry(_ id: OutboxEntry.ID) async throws -> Bool {
        let right = try await beginEdit()
        defer { endEdit(right) }
        return try await store.writing("trying an entry of the outbox `\(name)` again") { [self] db in
            guard var row = try row(id, in: db) else { return false }
            (row.isFailed, row.failedAt, row.pause, row.attempts) = (false, nil, nil, 0)
            try row.update(db)
            tellAfterCommit(of: row.key, in: db, retried: id)
            return true
        }
    }

    /// The state of the outbox, now and after each change.
    public var states: OutboxStates { OutboxStates(outbox: self) }

    func row(_ id: Int64, in db: Database) throws -> OutboxRow? {
        try OutboxRow.filter(Column("id") == id && Column("outbox") == name).fetchOne(db)
    }

    /// Reports, after the commit, that a key's first entry may be another one, whether or not this object still exists
    /// then.
    private func tellAfterCommit(of key: String, in db: Database, retried id: Int64? = nil) {
        // Each observer of a transaction costs something at every statement in it.
        guard core.withLock({ $0.noteUncommitted(ExactKey(key), retried: id) }) else { return }
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
