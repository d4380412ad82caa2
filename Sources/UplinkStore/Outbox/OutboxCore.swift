// SPDX-License-Identifier: Apache-2.0
#if Store
import UplinkCore

/// What an outbox keeps in memory, under its lock.
struct OutboxCore {
    var machine = OutboxMachine()
    /// Keys whose first entry the runner is to look up. Empty without a runner, which looks up all keys when it begins.
    var keysToLookUp: Set<ExactKey> = []
    /// Failures of entries that could not be written to the database.
    private var unwritten: [OutboxEntry.ID: OutboxRow.Failures] = [:]
    /// What the open transaction has changed.
    private var uncommitted = Uncommitted()
    /// Wakes the call that runs the outbox; nil when none does.
    var runner: (@Sendable () -> Void)?
    /// How many calls are editing entries beside the run, which keeps its lock against other processes until they are
    /// done.
    private(set) var editors = 0
    /// What went wrong last, and with which entry (nil: when looking for entries).
    fileprivate(set) var problem: (text: String, claim: OutboxMachine.Claim?)?
    private var listeners: [UInt64: @Sendable () -> Void] = [:]
    private var lastListener: UInt64 = 0

    /// Wakes everything that wants to know of a change; to be called without the lock.
    var wakes: [@Sendable () -> Void] { listeners.values + (runner.map { [$0] } ?? []) }

    /// Wakes only the observers. What the runner itself has found out must not wake it again.
    var watchers: [@Sendable () -> Void] { Array(listeners.values) }

    private struct Uncommitted {
        /// Keys whose first entry may be another one after it.
        var keys: Set<ExactKey> = []
        /// Entries that are to be tried again.
        var retried: [(key: ExactKey, id: Int64)] = []
    }

    /// Records that the open transaction changes a key. True at its first change, so that it is reported once; there is
    /// only one writer.
    mutating func noteUncommitted(_ key: ExactKey, retried id: Int64?) -> Bool {
        defer {
            uncommitted.keys.insert(key)
            if let id { uncommitted.retried.append((key, id)) }
        }
        return uncommitted.keys.isEmpty
    }

    /// Records that the transaction is over.
    mutating func transactionEnded(isCommitted: Bool) {
        defer { uncommitted = Uncommitted() }
        guard isCommitted, runner != nil else { return }
        keysToLookUp.formUnion(uncommitted.keys)
        for (key, id) in uncommitted.retried {
            machine.retried(key, id)
            unwritten[id] = nil
        }
    }

    /// Keeps a failure of an entry that could not be written.
    mutating func keep(_ failed: OutboxRow) {
        if let id = failed.id, !machine.isRetried(id) { unwritten[id] = failed.failures }
    }

    /// An entry of the database, with the failures that could not be written there.
    func whole(_ row: OutboxRow) -> OutboxRow {
        var row = row
        if let failures = row.id.flatMap({ unwritten[$0] }) { row.failures = failures }
        return row
    }

    /// Forgets an entry's failures, because its state is in the database now.
    mutating func isWritten(_ id: OutboxEntry.ID) { unwritten[id] = nil }

    /// Begins a run of the outbox, which learns from the database what is there.
    mutating func begin(maximumConcurrent: Int, _ wake: @escaping @Sendable () -> Void) {
        machine.restart(maximumConcurrent: maximumConcurrent)
        (keysToLookUp, unwritten) = ([], [:])
        problem = nil
        runner = wake
    }

    /// Begins a look at the database. Returns the keys that have changed since the last one.
    mutating func lookBegins() -> Set<ExactKey> {
        defer { keysToLookUp = [] }
        machine.lookBegins()
        return keysToLookUp
    }

    mutating func end() {
        runner = nil
        (keysToLookUp, unwritten) = ([], [:])
        problem = nil  // a run's problem is not its successor's
        machine.restart(maximumConcurrent: 0)
    }

    /// Registers an edit of entries beside the run; false if there is none.
    mutating func editBegins() -> Bool {
        if runner != nil { editors += 1 }
        return runner != nil
    }

    mutating func editEnds() { editors -= 1 }

    mutating func listen(_ wake: @escaping @Sendable () -> Void) -> UInt64 {
        lastListener += 1
        listeners[lastListener] = wake
        return lastListener
    }

    mutating func ignore(_ id: UInt64) { listeners[id] = nil }
}

extension Outbox {
    func listen(_ wake: @escaping @Sendable () -> Void) -> OutboxListening {
        let id = core.withLock { $0.listen(wake) }
        wake()
        return OutboxListening(self, id)
    }

    /// An element now, and one after every change, even a change of entries that leaves the state as it was; a slow
    /// reader gets one for all that it has missed.
    package var changes: AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let listening = listen { continuation.yield() }
        continuation.onTermination = { _ in withExtendedLifetime(listening) {} }
        return stream
    }

    /// Makes this process's run look up keys that it knows nothing of, because another process may have added entries
    /// of theirs.
    package func heed(_ keys: Set<String>) {
        let runner = core.withLock { core -> (@Sendable () -> Void)? in
            let unknown = keys.map { ExactKey($0) }.filter { core.machine.state(of: $0) == nil }
            guard let runner = core.runner, !unknown.isEmpty else { return nil }
            core.keysToLookUp.formUnion(unknown)
            return runner
        }
        runner?()
    }

    func state(after last: OutboxState?) async -> OutboxState {
        var state = last ?? OutboxState()
        do {
            let totals = try await store.reading("counting the outbox `\(name)`") { [name] db in
                try OutboxRow.totals(of: name, in: db)
            }
            (state.pending, state.failed, state.bytes) = (totals.pending, totals.failed, totals.bytes)
            state.problem = core.withLock { $0.problem?.text }
        } catch {
            state.problem = "\(error)"
        }
        (state.isRunning, state.isWaiting, state.resting, state.sending) = core.withLock { core in
            (core.runner != nil, core.machine.isWaiting, core.machine.resting, core.machine.sending)
        }
        // The last entry may have been cancelled while its sending waits for the network, which it goes on to do.
        if state.pending == 0 { state.isWaiting = false }
        return state
    }

    /// Changes the machine, and wakes everything that wants to know of a change.
    func tell<T: Sendable>(_ event: (inout OutboxCore) -> T) -> T {
        let (result, wakes) = core.withLock { core in (event(&core), core.wakes) }
        for wake in wakes { wake() }
        return result
    }

    /// Reports to observers a problem of the outbox itself, with an entry or when looking for entries.
    func report(_ problem: any Error, of claim: OutboxMachine.Claim? = nil) {
        if problem is CancellationError { return }
        report { _ in ("\(problem)", claim) }
    }

    /// Reports that there is no problem any more: an entry went well, and with it everything that sending takes.
    func reportNoProblem() { report { _ in nil } }

    /// Reports that looking for entries went well, and found these first entries of the keys.
    func reportLook(_ keys: Set<ExactKey>?, _ heads: [OutboxRow.Head]) {
        report { problem in
            // The problem of an entry that is still there stays.
            guard let claim = problem?.claim,
                keys?.contains(claim.key) == false || heads.contains(where: { $0.id == claim.id })
            else { return nil }
            return problem
        }
    }

    private func report(
        _ change: (_ problem: (text: String, claim: OutboxMachine.Claim?)?) -> (String, OutboxMachine.Claim?)?
    ) {
        let watchers = core.withLock { core -> [@Sendable () -> Void] in
            let before = core.problem?.text
            core.problem = change(core.problem)
            return core.problem?.text == before ? [] : core.watchers
        }
        for wake in watchers { wake() }
    }
}
#endif
