// SPDX-License-Identifier: Apache-2.0
#if Store
import UplinkCore

/// The answers to a query as they change, and the progress of the sync that was asked for with it.
///
/// A stream never ends by itself and never throws: errors are elements. Each iterator is a subscription of its own,
/// which starts reading and asks for its sync when it is created. It ends, and no longer takes part in the sync, when
/// it is dropped or its task is cancelled. For a slow reader 16 elements are kept; beyond them, the newest of each
/// kind.
public struct StoreStream<Value: Equatable & Sendable>: AsyncSequence, Sendable {
    /// The elements: values, errors, and the progress of the sync.
    public typealias Element = StoreElement<Value>
    /// The sequence does not throw.
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

        /// Returns the next element; nil when the task is cancelled, and from then on.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            await lease.subscription.next()
        }

        /// The same as the form with an isolation.
        public mutating func next() async -> Element? { await lease.subscription.next() }
    }

    /// Ends the subscription when the iterator is dropped; what the subscription started refers only to the
    /// subscription.
    fileprivate final class Lease: Sendable {
        let subscription: StreamSubscription<Value>
        init(_ subscription: StreamSubscription<Value>) { self.subscription = subscription }
        deinit { subscription.end() }
    }
}

extension Store {
    /// Returns the answers to a query, now and after each change, with a sync of its data.
    ///
    /// Nothing happens until the stream is iterated.
    ///
    /// - Parameters:
    ///   - query: What to show.
    ///   - sync: The sync that brings its data up to date; nil for only what is stored.
    ///   - request: What to show first, and whether to sync at all.
    ///   - force: Whether to sync even if the stored data is recent enough. A sync that is under way is shared in any
    ///     case.
    public func stream<Value>(
        _ query: StoreQuery<Value>, sync: StoreSync? = nil, request: StoreRequest = .storedThenRefreshed,
        force: Bool = false
    ) -> StoreStream<Value> {
        StoreStream(store: self, query: query, sync: sync, request: request, force: force)
    }
}
#endif
