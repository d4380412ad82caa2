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
    ///   file, beside the database, and another process was faster to create it again.
    public func run(_ send: @escaping @Sendable (OutboxEntry) async throws -> OutboxVerdict) async throws {
        guard store.running.withLock({ $0.insert(name).inserted }) else { throw OutboxLock.inUse(name) }
        defer { store.running.withLock { _ = $0.remove(name) } }
        try await runAlone(send)
    }

    private func runAlone(_ send: @escaping @Sendable (OutboxEntry) async throws -> OutboxVerdict) async throws {
        var lock = try await lock()
        var end: any Error = CancellationError()
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        tell { $0.begin(maximumConcurrent: configuration.maximumConcurrent) { continuation.yield() } }
        let clock = MonotonicClock(store.clock)
        await withDiscardingTaskGroup { group in
            var alarm: (until: Duration, task: Task<Void, Never>)?
            defer { alarm?.task.cancel() }
            var knowsAll = false
            continuation.yield()
            for await _ in signals where !Task.isCancelled {
                var retry: Duration?
                let changed = core.withLock { core in
                    defer { core.changed = [] }
                    core.machine.lookBegins()
                    return core.changed
                }
                if let old = lock, !old.isNamed {
                    do {
                        lock = try await self.lock()
                    } catch {
                        end = error
                        break
                    }
                }
                do {
                    try await look(knowsAll ? changed : nil, clock)
                    knowsAll = true
                } catch {
                    report(error)
                    core.withLock { $0.changed.formUnion(changed) }
                    retry = clock.now() + .seconds(1)
                }
                let (claims, rested) = core.withLock { core in
                    (core.machine.next(now: clock.now()), core.machine.alarm)
                }
                let until = [retry, rested].compactMap(\.self).min()
                if !claims.isEmpty { for wake in core.withLock(\.watchers) { wake() } }
                for claim in claims {
                    group.addTask { [self, lock] in
                        let rest = await deliver(claim, under: lock, send)
                        tell { core in
                            core.machine.ended(claim, rest: rest, now: clock.now())
                            core.changed.insert(claim.key)
                        }
                    }
                }
                if until != alarm?.until {
                    alarm?.task.cancel()
                    alarm = until.map { until in
                        (
                            until,
                            Task {
                                guard (try? await clock.sleep(until)) != nil else { return }
                                continuation.yield()
                            }
                        )
                    }
                }
            }
            group.cancelAll()
        }
        tell { $0.end() }
        await changesEnded()
        withExtendedLifetime(lock) {}
        throw end
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
        while core.withLock({ $0.changers > 0 }) {
            await Task { try? await Task.sleep(for: OutboxLock.pause) }.value
        }
    }

    /// Looks up the first entries of these keys, or of all.
    private func look(_ keys: Set<String>?, _ clock: MonotonicClock) async throws {
        if let keys, keys.isEmpty { return }
        let heads = try await store.reading("reading the outbox `\(name)`") { [name] db in
            guard let keys else { return try OutboxRow.heads(of: name, in: db) }
            return try keys.compactMap { try OutboxRow.head(of: name, key: $0, in: db) }
        }
        let now = store.now().timeIntervalSince1970
        reportLook(keys, heads)
        core.withLock { core in
            var missing = keys ?? []
            for head in heads {
                missing.remove(head.key)
                let rest = OutboxBackoff.remainder(of: head.pause, since: head.failedAt, now: now)
                core.machine.looked(head.key, .init(id: head.id, rest: rest), now: clock.now())
            }
            for key in missing { core.machine.looked(key, nil, now: clock.now()) }
        }
    }
}
#endif
