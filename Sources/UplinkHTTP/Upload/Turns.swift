// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Work that is done by one task at a time, in the order in which they come.
///
/// A sequence that can be iterated again need not be one that can be iterated twice at the same time, and an iteration
/// that was cancelled goes on until the sequence notices.
final class Turns: Sendable {
    /// A turn, which others may wait for.
    private final class Turn: Sendable {
        private let state = Locked((isOver: false, next: Suspension?.none))

        /// Returns when the turn is over; one task may wait.
        func end() async {
            await withCheckedContinuation { continuation in
                let waiter = Suspension(continuation)
                let isOver = state.withLock { state in
                    if !state.isOver { state.next = waiter }
                    return state.isOver
                }
                if isOver { waiter.resume() }
            }
        }

        func isOver() {
            state.withLock { state in
                state.isOver = true
                return state.next.take()
            }?.resume()
        }
    }

    private let last = Locked<Turn?>(nil)

    /// Does the work when all earlier work has ended, even if the task is cancelled meanwhile; it then does not begin.
    func next(_ work: () async throws -> Void) async throws {
        let turn = Turn()
        let earlier = last.withLock { last in
            defer { last = turn }
            return last
        }
        defer { turn.isOver() }
        await earlier?.end()
        try Task.checkCancellation()
        try await work()
    }
}
