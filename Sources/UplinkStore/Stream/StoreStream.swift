// SPDX-License-Identifier: Apache-2.0
#if Store
import UplinkCore

/// The answers to a query as they change, and what becomes of the sync that was asked for with it.
///
/// It never ends by itself and never throws: errors are elements. Each iterator is a subscription of its own, which reads
/// and asks for its sync when it is made. It ends, and leaves the sync, when it is dropped or its task is cancelled. For a
/// reader that is slow 16 elements are kept; beyond them, the newest of each kind.
public struct StoreStream<Value: Equatable & Sendable>: AsyncSequence, Sendable {
    /// What is told.
    public typealias Element = StoreElement<Value>
    /// Nothing is thrown.
    public typealias Failure = Never

    let store: Store
    let query: StoreQuery<Value>
    let sync: StoreSync?
    let request: StoreRequest
    let force: Bool

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator {
        let subscription = StreamSubscription(self)
        subscription.start()
        return Iterator(lease: Lease(subscription))
    }

    /// A subscription.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let lease: Lease

        /// The next element; nil when the task is cancelled, and from then on.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            await lease.subscription.next()
        }

        /// As the form with an isolation.
        public mutating func next() async -> Element? { await lease.subscription.next() }
    }

    /// Ends the subscription when the iterator goes; what the subscription started refers to that alone.
    fileprivate final class Lease: Sendable {
        let subscription: StreamSubscription<Value>
        init(_ subscription: StreamSubscription<Value>) { self.subscription = subscription }
        deinit { subscription.end() }
    }
}

extension Store {
    /// The answers to a query, now and after each change, with a sync of what it is about.
    ///
    /// Nothing happens before the stream is iterated.
    ///
    /// - Parameters:
    ///   - query: What to show.
    ///   - sync: What brings it up to date; nil shows what is stored.
    ///   - request: What is shown first, and whether to sync at all.
    ///   - force: Whether to sync although what is stored is recent enough. A sync that is under way is shared all the
    ///     same.
    public func stream<Value>(
        _ query: StoreQuery<Value>, sync: StoreSync? = nil, request: StoreRequest = .storedThenRefreshed,
        force: Bool = false
    ) -> StoreStream<Value> {
        StoreStream(store: self, query: query, sync: sync, request: request, force: force)
    }
}
#endif
