// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import UplinkCore

extension Outbox {
    /// Sends one entry, and records what became of it. Returns how long it rests, or nil when its key is to be looked
    /// up again.
    ///
    /// - Parameter lock: The lock that it was claimed under. If that no longer keeps others out, nothing is sent.
    func deliver(
        _ claim: OutboxMachine.Claim, under lock: OutboxLock?,
        _ send: @escaping @Sendable (OutboxEntry) async throws -> OutboxVerdict
    ) async -> Duration? {
        let outcome = await store.performer.perform(
            withinSeconds: .infinity, requiring: configuration.requirement,
            waits: { tell { $0.machine.waits(claim) } },
            operation: { () async -> Sent in await attempt(claim, under: lock, send) })
        switch outcome {
        case .success(.answered(let row, let answer)): return await settle(row, answer, of: claim)
        case .success(.gone): return nil
        case .success(.unreadable(let error)):
            report(error, of: claim)
            return configuration.backoff.initial
        case .failure(.notStarted(let error)):
            if error.code != .cancelled { report(error, of: claim) }
            return configuration.backoff.maximum
        }
    }

    /// Sends the entry, now that the network is there.
    private func attempt(
        _ claim: OutboxMachine.Claim, under lock: OutboxLock?,
        _ send: @escaping @Sendable (OutboxEntry) async throws -> OutboxVerdict
    ) async -> Sent {
        guard lock?.isNamed ?? true, tell({ $0.machine.begins(claim) }) else { return .gone }
        do {
            guard let row = try await entry(claim) else { return .gone }
            return .answered(row, row.isFailed ? .givenUp : await verdict(of: OutboxEntry(row), send))
        } catch {
            return .unreadable(error)
        }
    }

    private enum Sent: Sendable {
        /// The entry, and what became of it.
        case answered(OutboxRow, Answer)
        /// The handler was not called: the entry is gone, being removed or no longer its key's first, or the lock no
        /// longer keeps others out.
        case gone
        /// The handler was not called: the entry could not be read.
        case unreadable(any Error)
    }

    private enum Answer: Sendable {
        /// The handler's.
        case verdict(OutboxVerdict)
        /// The handler was not called: the entry has failed too often, which could not be written yet.
        case givenUp
        /// The run ended before it was known; nothing is recorded.
        case interrupted
    }

    /// The entry, if the database still has it as its key's first, with the failures that could not be written. While
    /// it waited for the network somebody may have wanted an earlier one tried again.
    private func entry(_ claim: OutboxMachine.Claim) async throws -> OutboxRow? {
        let row = try await store.reading("reading an entry of the outbox `\(name)`") { [name] db -> OutboxRow? in
            guard try OutboxRow.head(of: name, key: claim.key.text, in: db)?.id == claim.id else { return nil }
            return try OutboxRow.fetchOne(db, key: claim.id)
        }
        return row.map { row in core.withLock { $0.whole(row) } }
    }

    private func verdict(
        of entry: OutboxEntry, _ send: @Sendable (OutboxEntry) async throws -> OutboxVerdict
    ) async -> Answer {
        do {
            return .verdict(try await send(entry))
        } catch {
            return Task.isCancelled ? .interrupted : .verdict(.tryAgain(reason: "\(error)"))
        }
    }

    /// Records what became of an entry, with its result, in one transaction.
    private func settle(_ row: OutboxRow, _ answer: Answer, of claim: OutboxMachine.Claim) async -> Duration? {
        let verdict: OutboxVerdict
        switch answer {
        case .verdict(let known): verdict = known
        case .givenUp: return await giveUp(row, of: claim)
        case .interrupted: return configuration.backoff.initial
        }
        let failed: OutboxRow
        do {
            failed = try await note(claim.id) { [self] db in
                let failed = try attempted(row, verdict, in: db)
                switch verdict {
                case .done(let write):
                    try row.delete(db)
                    try write(db)
                case .tryAgain:
                    try failed.update(db)
                case .failed(_, let write):
                    try failed.update(db)
                    try write(db)
                }
                return failed
            }
            reportNoProblem()
        } catch {
            report(error, of: claim)
            return await postpone(row, of: claim, because: error)
        }
        switch verdict {
        case .done, .failed: return nil
        case .tryAgain: return failed.rest
        }
    }

    /// Counts another failure of an entry whose result could not be written, so that it rests longer each time. If that
    /// cannot be written either, for example on a full disk, it is counted in memory.
    private func postpone(
        _ row: OutboxRow, of claim: OutboxMachine.Claim, because error: any Error
    ) async -> Duration? {
        let verdict = OutboxVerdict.tryAgain(reason: "\(error)")
        do {
            return try await note(claim.id) { [self] db in
                let failed = try attempted(row, verdict, in: db)
                try failed.update(db)
                return failed
            }.rest
        } catch {
            let failed = attempted(row, verdict)
            core.withLock { $0.keep(failed) }
            return .limited(seconds: failed.pause ?? 0)
        }
    }

    /// Writes that an entry is not tried any more; as long as that fails it rests, and is not sent.
    private func giveUp(_ failed: OutboxRow, of claim: OutboxMachine.Claim) async -> Duration? {
        do {
            _ = try await note(claim.id) { [self] db in
                // As it is now: somebody may have wanted it tried again meanwhile.
                let row = try self.row(claim.id, in: db).map { row in core.withLock { $0.whole(row) } }
                try row?.update(db)
                return row ?? failed
            }
            reportNoProblem()
            return nil
        } catch {
            report(error, of: claim)
            return .limited(seconds: failed.pause ?? 0)
        }
    }

    /// Makes one transaction, in a task of its own: what the server has accepted is recorded even if the run was
    /// cancelled meanwhile.
    private func note(
        _ id: OutboxEntry.ID, _ updates: @escaping @Sendable (Database) throws -> OutboxRow
    ) async throws -> OutboxRow {
        let task = Task { [self] in
            try await store.writing("noting what became of an entry of the outbox `\(name)`", updates)
        }
        let row = try await task.value
        core.withLock { $0.isWritten(id) }
        return row
    }

    /// The entry after another attempt that ended with this verdict, counted from this row.
    private func attempted(_ row: OutboxRow, _ verdict: OutboxVerdict) -> OutboxRow {
        row.attempted(
            verdict, now: store.now().timeIntervalSince1970, configuration, chance: .random(in: 0...1))
    }

    /// The same, counted from what the database has now. If a retry was asked for while the entry was being sent, its
    /// count has been reset, and it does not rest.
    private func attempted(_ row: OutboxRow, _ verdict: OutboxVerdict, in db: Database) throws -> OutboxRow {
        guard let id = row.id else { return attempted(row, verdict) }
        let known = try self.row(id, in: db) ?? row
        let (whole, isRetried) = core.withLock { ($0.whole(known), $0.machine.isRetried(id)) }
        var attempted = attempted(whole, verdict)
        if isRetried { attempted.pause = 0 }
        return attempted
    }
}
#endif
