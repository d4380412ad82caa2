// SPDX-License-Identifier: Apache-2.0

/// The shell around ``Subscribers``: holds the lock, and does outside of it what must not be done under it. Every
/// method may be called from any thread.
final class SubscriberList<Element: Sendable & Equatable>: Sendable {
    private let subscribers: Locked<Subscribers<Element>>
    private let onDemandChange: @Sendable () -> Void

    init(
        keepsCurrent: Bool = false, merging merge: @escaping @Sendable (_ old: Element, _ new: Element) -> Element,
        onDemandChange: @escaping @Sendable () -> Void
    ) {
        subscribers = Locked(Subscribers(keepsCurrent: keepsCurrent, merging: merge))
        self.onDemandChange = onDemandChange
    }

    var current: Element? { subscribers.withLock { $0.current } }
    var merges: UInt64 { subscribers.withLock { $0.merges } }
    var hasSubscribers: Bool { subscribers.withLock { $0.hasSubscribers } }
    func areWaiting(atLeast count: Int) -> Bool { subscribers.withLock { $0.areWaiting(atLeast: count) } }

    func send(_ element: Element, remains: Bool) {
        perform(subscribers.withLock { $0.send(element, remains: remains) })
    }
    /// Sends what `make` returns for the current element and the last number; nil sends nothing. `make` runs under the
    /// lock.
    func send(remains: Bool, _ make: (_ current: Element?, _ lastNumber: inout UInt64?) -> Element?) {
        perform(
            subscribers.withLock { subscribers in
                make(subscribers.current, &subscribers.lastNumber).map { subscribers.send($0, remains: remains) }
                    ?? .init()
            })
    }
    /// Replaces the current element under the lock, without sending the new one.
    func replaceCurrent(_ make: (Element, _ lastNumber: inout UInt64?) -> Element) {
        subscribers.withLock { $0.replaceCurrent(make) }
    }
    /// Leaves a number out.
    func skipNumber() { subscribers.withLock { $0.skipNumber() } }
    func forget() { subscribers.withLock { $0.forget() } }
    func forgetIfUnobserved() { subscribers.withLock { $0.forgetIfUnobserved() } }
    func finish() { perform(subscribers.withLock { $0.finish() }) }
    func fail(_ error: NetworkMonitorError) { perform(subscribers.withLock { $0.fail(error) }) }

    fileprivate func subscribe() -> UInt64 {
        let (id, action) = subscribers.withLock { $0.subscribe() }
        perform(action)
        return id
    }

    fileprivate func unsubscribe(_ id: UInt64) { perform(subscribers.withLock { $0.unsubscribe(id) }) }

    fileprivate func take(_ id: UInt64) -> Subscribers<Element>.Delivery? {
        subscribers.withLock { $0.take(id, isCancelled: Task.isCancelled) }
    }

    fileprivate func park(_ id: UInt64, _ waiter: Subscribers<Element>.Waiter) {
        perform(subscribers.withLock { $0.park(id, waiter, isCancelled: Task.isCancelled) })
    }

    fileprivate func cancel(_ id: UInt64) { perform(subscribers.withLock { $0.cancel(id) }) }

    private func perform(_ action: Subscribers<Element>.Action) {
        for waiter in action.wake { waiter.resume() }
        if action.demandChanged { onDemandChange() }
    }
}

/// Holds a place in a list for as long as its iterator lives.
///
/// - Parameter Owner: The list's owner, which is kept alive.
final class Subscription<Element: Sendable & Equatable, Owner: AnyObject & Sendable>: Sendable {
    private let list: SubscriberList<Element>
    private let owner: Owner
    private let id: UInt64

    init(to list: SubscriberList<Element>, of owner: Owner) {
        self.list = list
        self.owner = owner
        id = list.subscribe()
    }

    deinit { list.unsubscribe(id) }

    nonisolated(nonsending) func next() async -> Subscribers<Element>.Delivery {
        while true {
            if let delivery = list.take(id) { return delivery }
            await withTaskCancellationHandler {
                await withCheckedContinuation { list.park(id, Suspension($0)) }
            } onCancel: {
                list.cancel(id)
            }
        }
    }
}
