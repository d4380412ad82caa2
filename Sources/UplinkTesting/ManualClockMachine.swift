// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// The state machine of a ``ManualClock``: its sleepers, and the tests that wait for sleepers.
struct ManualClockMachine {
    typealias Continuation = CheckedContinuation<Void, any Error>
    /// A continuation to resume outside the lock.
    typealias Resumption = (Continuation, Result<Void, any Error>)

    private struct Sleeper {
        let id: UInt64
        let deadline: Duration
        let name: String
        let continuation: Continuation
    }

    private struct Watcher {
        let id: UInt64
        let count: Int
        let continuation: Continuation
    }

    private(set) var now = Duration.zero
    private var lastID: UInt64 = 0
    /// In order of deadline, then of arrival.
    private var sleepers: [Sleeper] = []
    private var watchers: [Watcher] = []

    var names: [String] { sleepers.map { "\($0.name) (for \($0.deadline - now))" } }

    mutating func reserve() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func sleep(
        _ id: UInt64, until deadline: Duration, name: String, _ continuation: Continuation, isCancelled: Bool
    ) -> [Resumption] {
        if isCancelled { return [(continuation, .failure(CancellationError()))] }
        if deadline <= now { return [(continuation, .success(()))] }
        let sleeper = Sleeper(id: id, deadline: deadline, name: name, continuation: continuation)
        sleepers.insert(sleeper, at: sleepers.firstIndex { $0.deadline > deadline } ?? sleepers.endIndex)
        let satisfied = watchers.filter { $0.count <= sleepers.count }
        watchers.removeAll { $0.count <= sleepers.count }
        return satisfied.map { ($0.continuation, .success(())) }
    }

    mutating func wait(
        _ id: UInt64, for count: Int, _ continuation: Continuation, isCancelled: Bool
    ) -> [Resumption] {
        if isCancelled { return [(continuation, .failure(CancellationError()))] }
        if sleepers.count >= count { return [(continuation, .success(()))] }
        watchers.append(Watcher(id: id, count: count, continuation: continuation))
        return []
    }

    mutating func giveUp(_ id: UInt64, after patience: Duration) -> [Resumption] {
        guard let index = watchers.firstIndex(where: { $0.id == id }) else { return [] }
        let watcher = watchers.remove(at: index)
        let found = names.isEmpty ? "nobody sleeps" : "only these sleep: \(names.joined(separator: ", "))"
        let error = ManualClockError(
            message: """
                \(watcher.count) sleepers were expected within \(patience), but \(found). \
                Does the code under test use this clock, and has it come as far as its sleep?
                """)
        return [(watcher.continuation, .failure(error))]
    }

    mutating func cancel(_ id: UInt64) -> [Resumption] {
        if let index = sleepers.firstIndex(where: { $0.id == id }) {
            return [(sleepers.remove(at: index).continuation, .failure(CancellationError()))]
        }
        if let index = watchers.firstIndex(where: { $0.id == id }) {
            return [(watchers.remove(at: index).continuation, .failure(CancellationError()))]
        }
        return []
    }

    mutating func move(by duration: Duration) -> [Resumption] {
        now += max(duration, .zero).clamped
        let due = sleepers.prefix { $0.deadline <= now }
        sleepers.removeFirst(due.count)
        return due.map { ($0.continuation, .success(())) }
    }
}
