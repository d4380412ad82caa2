// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import UplinkCore

extension Outbox {
    /// Sends what is in the outbox and what is added to it, until the task is cancelled.
    ///
    /// It waits for the network through the store's performer, without a limit; that does not count as an attempt. It
    /// also waits for processes that are cancelling entries at this moment, and reports one that does not finish as the
    /// state's ``OutboxState/problem``.
    ///
    /// - Parameter send: Sends one entry and says what became of it, in a task of its own. Any error it throws means
    ///   "try again". An entry may be sent more than once, always with the same idempotency key.
    /// - Throws: `CancellationError` when the task was cancelled; ``StoreError`` with `outboxInUse` when the outbox is
    ///   already run, here or by another process. That can also happen later, if someone removed the outbox's lock
    ///   file, beside the database, and another process was faster to create it again; `cannotOpen` when there can be
    ///   no such file.
    public func run(_ send: @escaping @Sendable (OutboxEntry) async throws -> OutboxVerdict) async throws {
        guard store.running.withLock({ $0.insert(ExactKey(name)).inserted }) else { throw OutboxLock.inUse(name) }
        defer { store.running.withLock { _ = $0.remove(ExactKey(name)) } }
        try await runAlone(send)
    }

    private func runAlone(_ send: @escaping @Sendable (OutboxEntry) async throws -> OutboxVerdict) async throws {
        var lock = try await lock()
        var end: any Error = CancellationError()
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let wake: @Sendable () -> Void = { continuation.yield() }
        tell { $0.begin(maximumConcurrent: configuration.maximumConcurrent, wake) }
        let clock = ElapsedClock(store.clock)
        await withDiscardingTaskGroup { group in
            var alarm = OutboxAlarm(on: clock, wake)
            var knowsAll = false
            var others = OtherProcesses()
            wake()
            for await _ in signals where !Task.isCancelled {
                let changed = core.withLock { $0.lookBegins() }
                do {
                    try await renew(&lock)
                } catch {
                    end = error
                    break
                }
                var retry = await look(changed, &knowsAll, clock)
                // A database in memory has no others.
                if !changed.isEmpty, store.realPath != nil { others.mayHaveAdded = true }
                if retry == nil, core.withLock({ $0.machine.isIdle }) {
                    switch others.isToBeLookedFor(now: clock.now()) {
                    case .no: break
                    case .later(let moment): retry = moment
                    case .now:
                        knowsAll = false
                        retry = await look([], &knowsAll, clock)
                    }
                }
                let (claims, rested) = claim(clock)
                deliver(claims, under: lock, in: &group, clock, send)
                alarm.set(to: [retry, rested].compactMap(\.self).min())
            }
            group.cancelAll()
        }
        tell { $0.end() }
        await changesEnded()
        withExtendedLifetime(lock) {}
        throw end
    }

    /// Replaces a lock that no longer keeps others out, because someone removed its file.
    private func renew(_ lock: inout OutboxLock?) async throws {
        if let old = lock, !old.isNamed { lock = try await self.lock() }
    }

    /// The lock that keeps other processes from running it; nil if they cannot open the database.
    private func lock() async throws -> OutboxLock? {
        guard let path = store.realPath else { return nil }
        do {
            return try await .running(name, beside: path) { report($0) }
        } catch {
            reportNoProblem()  // no one is waited for any more
            throw error
        }
    }

    /// Returns when no change relies on this process's run of the outbox any more. Not cancelled with the task.
    private func changesEnded() async {
        while core.withLock({ $0.editors > 0 }) {
            await Task { try? await Task.sleep(for: OutboxLock.pause) }.value
        }
    }

    /// Looks up the keys that have changed, or all until that has gone well once. Returns when to look again, if this
    /// failed.
    private func look(_ changed: Set<ExactKey>, _ knowsAll: inout Bool, _ clock: ElapsedClock) async -> Duration? {
        do {
            try await lookUp(knowsAll ? changed : nil, clock)
            knowsAll = true
            return nil
        } catch {
            report(error)
            core.withLock { $0.keysToLookUp.formUnion(changed) }
            return clock.now() + .seconds(1)
        }
    }

    /// Looks up the first entries of these keys, or of all.
    private func lookUp(_ keys: Set<ExactKey>?, _ clock: ElapsedClock) async throws {
        if let keys, keys.isEmpty { return }
        let heads = try await store.reading("reading the outbox `\(name)`") { [name] db in
            guard let keys else { return try OutboxRow.heads(of: name, in: db) }
            return try keys.compactMap { try OutboxRow.head(of: name, key: $0.text, in: db) }
        }
        let (now, looked) = (store.now().timeIntervalSince1970, clock.now())  // others' code, so without the lock
        reportLook(keys, heads)
        core.withLock { core in
            var missing = keys ?? []
            for head in heads {
                let key = ExactKey(head.key)
                missing.remove(key)
                let rest = OutboxBackoff.remainder(of: head.pause, since: head.failedAt, now: now)
                core.machine.looked(key, .init(id: head.id, rest: rest), now: looked)
            }
            for key in missing { core.machine.looked(key, nil, now: looked) }
        }
    }

    /// Claims the entries that can be sent now. Also returns when the next one has rested enough.
    private func claim(_ clock: ElapsedClock) -> (claims: [OutboxMachine.Claim], rested: Duration?) {
        let now = clock.now()
        let (claims, rested) = core.withLock { ($0.machine.next(now: now), $0.machine.alarm) }
        if !claims.isEmpty { for wake in core.withLock(\.watchers) { wake() } }
        return (claims, rested)
    }

    /// Starts to send entries, each in a task of its own.
    private func deliver(
        _ claims: [OutboxMachine.Claim], under lock: OutboxLock?, in group: inout DiscardingTaskGroup,
        _ clock: ElapsedClock, _ send: @escaping @Sendable (OutboxEntry) async throws -> OutboxVerdict
    ) {
        for claim in claims {
            group.addTask { [self] in
                let rest = await deliver(claim, under: lock, send)
                let now = clock.now()
                tell { core in
                    core.machine.ended(claim, rest: rest, now: now)
                    core.keysToLookUp.insert(claim.key)
                }
            }
        }
    }
}
#endif
