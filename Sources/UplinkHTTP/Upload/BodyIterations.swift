// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// The iterations of a request's body that are under way.
///
/// A sequence that can be iterated again need not be one that can be iterated twice at the same time, and an iteration
/// that nobody wants any more goes on until the sequence notices. The next one therefore waits for it. Those that are
/// wanted, by requests that run side by side, wait for nobody.
final class BodyIterations: Sendable {
    /// One iteration, whose end others may wait for.
    private final class Iteration: Sendable {
        let isAbandoned: @Sendable () -> Bool
        private let state = Locked((hasEnded: false, waiting: [Suspension]()))

        init(_ isAbandoned: @escaping @Sendable () -> Bool) { self.isAbandoned = isAbandoned }

        /// Returns when it has ended, even if the task is cancelled meanwhile.
        func wait() async {
            await withCheckedContinuation { continuation in
                let waiter = Suspension(continuation)
                let hasEnded = state.withLock { state in
                    if !state.hasEnded { state.waiting.append(waiter) }
                    return state.hasEnded
                }
                if hasEnded { waiter.resume() }
            }
        }

        func end() {
            let waiting = state.withLock { state in
                defer { state = (true, []) }
                return state.waiting
            }
            for waiter in waiting { waiter.resume() }
        }
    }

    private let underWay = Locked<[Iteration]>([])

    /// Iterates when the abandoned iterations have ended; not at all if it is abandoned until then.
    ///
    /// - Parameter isAbandoned: Whether this one is no longer wanted. May be called from any thread.
    func iterate(
        isAbandoned: @escaping @Sendable () -> Bool, _ body: () async throws -> Void
    ) async throws {
        let iteration = Iteration(isAbandoned)
        let earlier = underWay.withLock { underWay in
            defer { underWay.append(iteration) }
            return underWay
        }
        defer {
            underWay.withLock { $0.removeAll { $0 === iteration } }
            iteration.end()
        }
        for other in earlier where other.isAbandoned() { await other.wait() }
        try Task.checkCancellation()
        // The cancellation comes some time after it was abandoned, and the next one may have begun.
        guard !isAbandoned() else { throw CancellationError() }
        try await body()
    }
}
