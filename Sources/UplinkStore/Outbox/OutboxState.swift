// SPDX-License-Identifier: Apache-2.0
#if Store
/// The state of an outbox: what it holds, and what it is doing.
public struct OutboxState: Sendable, Hashable {
    /// How many entries are still to be sent.
    public var pending = 0
    /// How many have failed for good, and wait for ``Outbox/retry(_:)`` or `Outbox.cancel`.
    public var failed = 0
    /// The bytes of all payloads.
    public var bytes = 0
    /// Whether ``Outbox/run(_:)`` is running.
    public var isRunning = false
    /// Whether it is waiting for the network.
    public var isWaiting = false
    /// How many keys rest because an attempt at their first entry failed.
    public var resting = 0
    /// The entries whose handlers are running.
    public var sending: Set<OutboxEntry.ID> = []
    /// What last went wrong with the outbox itself, for example a full disk; nil when it has gone well since, when the
    /// entry with which it went wrong is gone, and when ``Outbox/run(_:)`` has ended.
    public var problem: String?
}

/// The states of an outbox, the current one first; a slow reader gets only the newest.
public struct OutboxStates: AsyncSequence, Sendable {
    /// The elements: states.
    public typealias Element = OutboxState
    /// The sequence does not throw; a database that cannot be read is reported as the state's ``OutboxState/problem``.
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

        /// Returns the next state that differs from the last one; nil when the task is cancelled.
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
