// SPDX-License-Identifier: Apache-2.0
#if Store
import UplinkCore

/// A fetch that returns what the test says, when the test says, and counts its calls.
///
/// ```swift
/// let fetch = StubFetch(["milk"])
/// let sync = StoreSync("list", fetch: { try await fetch() }, write: save)
/// ```
public final class StubFetch<Value: Sendable>: Sendable {
    private struct State {
        var results: [Result<Value?, any Error>]
        var calls = 0
        var running = 0
        var isHeld = false
        var held: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<UInt64> = []
        /// The results of the calls that were held and now go on.
        var assigned: [UInt64: Result<Value?, any Error>] = [:]

        mutating func takeResult() -> Result<Value?, any Error> {
            results.count > 1 ? results.removeFirst() : results.first ?? .success(nil)
        }
    }

    private let state: Locked<State>

    /// Creates a fetch that returns these values: one for each call in turn, the last one for all that follow.
    public convenience init(_ values: Value...) { self.init(results: values.map { .success($0) }) }

    /// Creates a fetch with these outcomes, where nil means "no news": one for each call in turn, the last one for all
    /// that follow.
    public init(results: [Result<Value?, any Error>]) {
        state = Locked(State(results: results))
    }

    /// How often it was called.
    public var calls: Int { state.withLock { $0.calls } }
    /// How many calls have not returned.
    public var running: Int { state.withLock { $0.running } }

    /// Sets what the next calls return, instead of what was set before.
    public func bring(_ results: Result<Value?, any Error>...) { bring(results) }

    /// Sets what the next calls return, those that are held included, instead of what was set before.
    public func bring(_ results: [Result<Value?, any Error>]) { state.withLock { $0.results = results } }

    /// Makes calls wait from now on, until ``release()``.
    public func hold() { state.withLock { $0.isHeld = true } }

    /// Lets waiting calls go on, with results in the order in which they came, and later calls not wait.
    public func release() {
        let held = state.withLock { state in
            defer { state.held = [:] }
            state.isHeld = false
            return state.held.sorted { $0.key < $1.key }.map { id, continuation in
                state.assigned[id] = state.takeResult()
                return continuation
            }
        }
        for continuation in held { continuation.resume() }
    }

    /// The fetch.
    ///
    /// - Throws: What it was given, or `CancellationError`.
    public func callAsFunction() async throws -> Value? {
        let id = state.withLock { state in
            state.calls += 1
            state.running += 1
            return UInt64(state.calls)
        }
        defer { state.withLock { $0.running -= 1 } }
        await wait(id)
        let assigned = state.withLock { $0.assigned.removeValue(forKey: id) }
        try Task.checkCancellation()
        let result = assigned ?? state.withLock { $0.takeResult() }
        return try result.get()
    }

    private func wait(_ id: UInt64) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isHeld = state.withLock { state in
                    let isHeld = state.isHeld && !state.cancelled.contains(id)
                    if isHeld { state.held[id] = continuation }
                    return isHeld
                }
                if !isHeld { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.cancelled.insert(id)
                return state.held.removeValue(forKey: id)
            }
            continuation?.resume()
        }
    }
}
#endif
