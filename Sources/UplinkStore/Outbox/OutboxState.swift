// SPDX-License-Identifier: Apache-2.0
#if Store
/// What an outbox holds and does.
public struct OutboxState: Sendable, Hashable {
    /// How many entries are still to be sent.
    public var pending = 0
    /// How many have failed for good, and wait for ``Outbox/retry(_:)`` or `Outbox.cancel`.
    public var failed = 0
    /// The bytes of all payloads.
    public var bytes = 0
    /// Whether ``Outbox/run(_:)`` runs.
    public var isRunning = false
    /// Whether it waits for the network.
    public var isWaiting = false
    /// How many keys rest, because the attempt at their first entry has failed.
    public var resting = 0
    /// The entries whose handlers run.
    public var sending: Set<OutboxEntry.ID> = []
    /// What went wrong last with the outbox itself, as the database being full; nil when it has gone well since,
    /// when the entry with which it went wrong is gone, and when ``Outbox/run(_:)`` has ended.
    public var problem: String?
}

/// The states of an outbox, the current one first; the newest counts for a slow reader.
public struct OutboxStates: AsyncSequence, Sendable {
    /// What is told.
    public typealias Element = OutboxState
    /// Nothing is thrown; a database that cannot be read is the state's ``OutboxState/problem``.
    public typealias Failure = Never

    let outbox: Outbox

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return Iterator(
            outbox: outbox, base: stream.makeAsyncIterator(), lease: outbox.listen { continuation.yield() })
    }

    /// A subscription.
    public struct Iterator: AsyncIteratorProtocol {
        let outbox: Outbox
        var base: AsyncStream<Void>.Iterator
        let lease: OutboxListening
        private var last: OutboxState?

        init(outbox: Outbox, base: AsyncStream<Void>.Iterator, lease: OutboxListening) {
            self.outbox = outbox
            self.base = base
            self.lease = lease
        }

        /// The next state that differs from the last one; nil when the task is cancelled.
        public mutating func next() async -> OutboxState? {
            while await base.next() != nil {
                let state = await outbox.state(after: last)
                if Task.isCancelled { return nil }
                if state == last { continue }
                last = state
                return state
            }
            return nil
        }
    }
}
#endif
