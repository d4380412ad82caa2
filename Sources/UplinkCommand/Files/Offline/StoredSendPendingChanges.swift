// SPDX-License-Identifier: Apache-2.0
#if Store
import GRDB
import UplinkCore
import UplinkStore

/// Runs the outbox until nothing can be sent.
struct StoredSendPendingChanges: SendPendingChanges {
    let remote: FilesUseCases
    let files: OfflineStore
    let clock: any Clock<Duration>

    func callAsFunction(within limit: Duration) async throws -> SentChanges {
        let before = try await files.changes()
        guard before.contains(where: { !$0.isConflict }) else { return SentChanges(sent: [], left: before) }
        // A change that rests after an attempt of another process, or of an earlier command, is sent immediately.
        for change in before where change.hasFailedBefore {
            try await OfflineStore.explained { _ = try await files.outbox.retry(change.id) }
        }
        let sender = ChangeSender(remote: remote, files: files)
        /// The outbox's keys whose last attempt has failed.
        let failed = Locked<Set<String>>([])
        let problem = Locked<String?>(nil)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await files.outbox.run { entry in
                    do {
                        let verdict = try await sender.send(entry)
                        switch verdict {
                        case .tryAgain: failed.withLock { _ = $0.insert(entry.key) }
                        case .done, .failed: failed.withLock { _ = $0.remove(entry.key) }
                        }
                        return verdict
                    } catch {
                        failed.withLock { _ = $0.insert(entry.key) }
                        throw error
                    }
                }
            }
            group.addTask {
                let found = try await wait(upTo: limit, failed)
                problem.withLock { $0 = found }
            }
            defer { group.cancelAll() }
            do { _ = try await group.next() } catch let error as StoreError where error.code == .outboxInUse {
                throw FilesError(.busy, "another process sends at this moment what waits")
            } catch let error as StoreError {
                throw FilesError(.localFile, "what waits cannot be sent: \(error)")
            }
        }
        // Any other that is gone was discarded meanwhile.
        let sent = sender.sent.withLock { $0 }
        return SentChanges(
            sent: before.filter { sent.contains($0.id) }, left: try await files.changes(),
            problem: problem.withLock { $0 }.map { "what waits cannot be sent: \($0)" })
    }

    /// Returns when nothing waits or, after the limit, when nothing that waits can be sent; with the outbox's own
    /// problem, if it has one.
    private func wait(upTo limit: Duration, _ failed: Locked<Set<String>>) async throws -> String? {
        if limit > .zero {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await reach { _ in (try? await waiting()) == [] } }
                group.addTask { try? await clock.sleep(for: limit) }
                _ = await group.next()
                group.cancelAll()
            }
        }
        var problem: String?
        await reach { state in
            if state.pending == 0 || state.isWaiting && state.sending.isEmpty { return true }
            problem = state.problem
            if problem != nil { return true }
            do {
                let waiting = try await waiting()
                return state.sending.isEmpty && waiting.isSubset(of: failed.withLock { $0 })
            } catch {
                problem = "\(error)"  // no later state need come
                return true
            }
        }
        try Task.checkCancellation()
        return problem
    }

    /// The outbox's keys with entries that wait. Those that another process has added meanwhile are sent too.
    private func waiting() async throws -> Set<String> {
        let keys = Set(try await files.outbox.entries().filter { !$0.isFailed }.map(\.key))
        files.outbox.heed(keys)
        return keys
    }

    private func reach(_ isSo: (OutboxState) async -> Bool) async {
        for await state in files.outbox.states {
            if await isSo(state) { return }
        }
    }
}

extension PendingChange {
    /// Whether it waits after a failed attempt.
    fileprivate var hasFailedBefore: Bool {
        switch state {
        case .waiting(let problem): problem != nil
        case .sending, .conflict: false
        }
    }
}
#endif
