// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Writes chunks where that holds nobody up: in order, by one writer at a time, and never more than a bounded number of
/// bytes behind.
package final class WriteBehind: Sendable {
    /// Starts a turn of the writer on a thread that may block; the completion says whether everything has been written.
    package typealias Start =
        @Sendable (
            _ turn: @escaping @Sendable () -> Bool, _ completion: @escaping @Sendable (Result<Bool, any Error>) -> Void
        ) -> Void

    private struct Shared {
        var queue = WriteQueue()
        /// The one task that reads the network waits here: for room, or until everything is written.
        var waiter: CheckedContinuation<Void, Never>?
        var waitsForAll = false

        mutating func wake() -> CheckedContinuation<Void, Never>? {
            guard queue.hasFailed || (waitsForAll ? queue.isIdle : queue.hasRoom) else { return nil }
            defer { waiter = nil }
            return waiter
        }
    }

    private let start: Start
    private let put: @Sendable (HTTPBody.Chunk) throws -> Void
    private let shared = Locked(Shared())

    /// The most bytes that one turn on a pool thread writes before others get their turn.
    private static let turn = 8 << 20

    /// - Parameters:
    ///   - start: Runs the writer's turns.
    ///   - put: Appends a chunk. Called on a thread that may block, one call at a time.
    package init(starting start: @escaping Start, writing put: @escaping @Sendable (HTTPBody.Chunk) throws -> Void) {
        (self.start, self.put) = (start, put)
    }

    /// Bytes written so far.
    package var written: Int64 { shared.withLock { $0.queue.written } }

    /// Takes a chunk, and waits while too many bytes are pending.
    ///
    /// - Throws: The error that `put` threw for an earlier chunk.
    package nonisolated(nonsending) func write(_ chunk: HTTPBody.Chunk) async throws {
        let (isFirst, hasRoom) = try shared.withLock { (try $0.queue.push(chunk), $0.queue.hasRoom) }
        if isFirst { startWriting() }
        if !hasRoom { await wait(forAll: false) }
    }

    /// Waits until everything is written. The task's cancellation does not end the wait.
    package nonisolated(nonsending) func drain() async throws {
        await wait(forAll: true)
        try shared.withLock { if case .failed(let error) = $0.queue.state { throw error } }
    }

    private nonisolated(nonsending) func wait(forAll: Bool) async {
        await withCheckedContinuation { continuation in
            let ready = shared.withLock { shared in
                (shared.waiter, shared.waitsForAll) = (continuation, forAll)
                return shared.wake()
            }
            ready?.resume()
        }
    }

    private func startWriting() {
        start({ self.write() }) { result in
            switch result {
            case .success(let isDone): if !isDone { self.startWriting() }
            case .failure(let error): self.fail(error)
            }
        }
    }

    /// One turn on a thread that may block. Returns true when nothing is left.
    private func write() -> Bool {
        var written = 0
        while written < Self.turn {
            let (chunks, ready) = shared.withLock { shared in (shared.queue.take(), shared.wake()) }
            ready?.resume()
            guard let chunks else { return true }
            do {
                for chunk in chunks {
                    try put(chunk)
                    written += chunk.count
                    shared.withLock { $0.queue.wrote(chunk.count) }
                }
            } catch {
                fail(error)
                return true
            }
        }
        return false
    }

    private func fail(_ error: any Error) {
        let ready = shared.withLock { shared in
            shared.queue.fail(error)
            return shared.wake()
        }
        ready?.resume()
    }
}
