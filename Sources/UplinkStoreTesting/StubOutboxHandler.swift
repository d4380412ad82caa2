// SPDX-License-Identifier: Apache-2.0
#if Store
public import UplinkStore
import UplinkCore

/// A handler for an outbox that returns what the test says, and records what it was given.
///
/// ```swift
/// let handler = StubOutboxHandler()
/// let run = Task { try await outbox.run { try await handler($0) } }
/// ```
public final class StubOutboxHandler: Sendable {
    private struct State {
        var entries: [OutboxEntry] = []
        var running = 0
        /// The number of running calls, by the bytes of the entries' keys: strings may be equal with other bytes.
        var runningOfKey: [[UInt8]: Int] = [:]
        var overlaps = 0
        var mostRunning = 0
    }

    private let state: Locked<State>
    private let verdicts: StubFetch<OutboxVerdict>

    /// Creates a handler that returns these verdicts: one for each call in turn, the last one for all that follow;
    /// "done" without any.
    public convenience init(_ verdicts: OutboxVerdict...) { self.init(results: verdicts.map { .success($0) }) }

    /// Creates a handler that returns these verdicts or throws these errors: one for each call in turn, the last one
    /// for all that follow.
    public init(results: [Result<OutboxVerdict, any Error>]) {
        (state, verdicts) = (Locked(State()), StubFetch(results: results.map { $0.map(Optional.some) }))
    }

    /// The entries it was given, in order.
    public var entries: [OutboxEntry] { state.withLock { $0.entries } }
    /// How many calls have not returned.
    public var running: Int { state.withLock { $0.running } }
    /// The most calls that ran at the same time.
    public var mostRunning: Int { state.withLock { $0.mostRunning } }
    /// How often a call came while one of the same key ran; an outbox keeps it at zero.
    public var overlaps: Int { state.withLock { $0.overlaps } }

    /// Sets what the next calls return, instead of what was set before.
    public func answer(_ verdicts: OutboxVerdict...) { answer(results: verdicts.map { .success($0) }) }

    /// Sets what the next calls return or throw, instead of what was set before.
    public func answer(results: [Result<OutboxVerdict, any Error>]) {
        verdicts.bring(results.map { $0.map(Optional.some) })
    }

    /// Makes calls wait from now on, until ``release()``.
    public func hold() { verdicts.hold() }
    /// Lets waiting calls go on, with verdicts in the order in which they came, and later calls not wait.
    public func release() { verdicts.release() }

    /// The handler.
    ///
    /// - Throws: What it was given, or `CancellationError` when it is cancelled while it is held.
    public func callAsFunction(_ entry: OutboxEntry) async throws -> OutboxVerdict {
        let key = Array(entry.key.utf8)
        state.withLock { state in
            state.entries.append(entry)
            if state.runningOfKey[key, default: 0] > 0 { state.overlaps += 1 }
            state.runningOfKey[key, default: 0] += 1
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
        }
        defer {
            state.withLock { state in
                state.runningOfKey[key, default: 1] -= 1
                state.running -= 1
            }
        }
        return try await verdicts() ?? .done()
    }
}
#endif
