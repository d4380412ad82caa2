// SPDX-License-Identifier: Apache-2.0

/// The broadcasters' state machine: who subscribes to a monitor, and what each subscriber has still to receive.
///
/// An element that a subscriber has not taken yet is merged with the next one, so a slow subscriber costs no more than
/// one element. A waiter is only woken; it takes its element itself, under the lock. (ThreadSanitizer does not see a
/// value inside a continuation when the resumption overtakes the suspension.)
struct Subscribers<Element: Sendable & Equatable> {
    /// What a subscriber's `next()` returns: an element, nil at the end, or an error.
    typealias Delivery = Result<Element?, NetworkMonitorError>
    typealias Waiter = Suspension

    /// What a subscriber is doing.
    enum Subscriber {
        /// It has taken all there was, and is busy with it.
        case upToDate
        /// It is busy or has been woken, and this element is ready for it.
        case behind(Element)
        /// It waits for an element.
        case waiting(Waiter)
        /// Its stream has ended with this, which it has not taken yet; after that it finds the plain end.
        case ended(Delivery)
    }

    /// Work to do outside the lock.
    struct Action {
        /// The waiters to wake.
        var wake: [Waiter] = []
        /// Whether to tell the monitor that the first subscriber came or that the last one is gone.
        var demandChanged = false
    }

    /// Merges an element that a subscriber has not taken yet with the next one.
    private let merge: @Sendable (_ old: Element, _ new: Element) -> Element
    /// Whether the current element stays known while there are no listeners.
    private let keepsCurrent: Bool
    /// The element that a new subscriber gets first.
    private(set) var current: Element?
    /// The number of the last element, where its owner numbers them.
    var lastNumber: UInt64?
    private(set) var isFinished = false
    /// How often an element arrived before a subscriber had taken the previous one.
    private(set) var merges: UInt64 = 0
    private var subscribers: [UInt64: Subscriber] = [:]
    private var lastID: UInt64 = 0
    /// The number of subscribers whose stream has not ended. The others create no demand, though they may still hold
    /// their place.
    private var listeners = 0

    init(keepsCurrent: Bool, merging merge: @escaping @Sendable (_ old: Element, _ new: Element) -> Element) {
        (self.keepsCurrent, self.merge) = (keepsCurrent, merge)
    }

    var hasSubscribers: Bool { listeners > 0 }

    /// Whether there are this many listeners, and all there are have taken what was sent and wait for more.
    func areWaiting(atLeast count: Int) -> Bool {
        listeners >= count
            && subscribers.values.allSatisfy {
                switch $0 {
                case .waiting, .ended: true
                case .upToDate, .behind: false
                }
            }
    }

    mutating func subscribe() -> (id: UInt64, action: Action) {
        lastID += 1
        guard !isFinished else {
            subscribers[lastID] = .ended(.success(nil))
            return (lastID, Action())
        }
        subscribers[lastID] = current.map(Subscriber.behind) ?? .upToDate
        listeners += 1
        return (lastID, Action(demandChanged: listeners == 1))
    }

    mutating func unsubscribe(_ id: UInt64) -> Action {
        switch subscribers.removeValue(forKey: id) {
        case nil, .ended: return Action()
        case .upToDate, .behind, .waiting:
            listeners -= 1
            if listeners == 0, !keepsCurrent {
                skipNumber()
                forget()
            }
            return Action(demandChanged: listeners == 0)
        }
    }

    /// Returns what is ready for a subscriber, or nil when it has to wait. The stream of a cancelled task has ended.
    mutating func take(_ id: UInt64, isCancelled: Bool) -> Delivery? {
        guard let subscriber = subscribers[id] else { return .success(nil) }
        switch subscriber {
        case .ended(let delivery):
            subscribers[id] = .ended(.success(nil))
            return delivery
        case .behind(let element):
            if isCancelled { return .success(nil) }
            subscribers[id] = .upToDate
            return .success(element)
        case .upToDate: return isCancelled ? .success(nil) : nil
        case .waiting: return .failure(.iteratedTwice)
        }
    }

    /// Lets a subscriber wait, unless something is ready for it by now.
    mutating func park(_ id: UInt64, _ waiter: Waiter, isCancelled: Bool) -> Action {
        guard case .upToDate = subscribers[id], !isCancelled else { return Action(wake: [waiter]) }
        subscribers[id] = .waiting(waiter)
        return Action()
    }

    /// Wakes a cancelled task; the subscription itself stays until its iterator goes away.
    mutating func cancel(_ id: UInt64) -> Action {
        guard case .waiting(let waiter) = subscribers[id] else { return Action() }
        subscribers[id] = .upToDate
        return Action(wake: [waiter])
    }

    /// Sends an element to all subscribers, and to later ones if `remains` is true.
    mutating func send(_ element: Element, remains: Bool) -> Action {
        guard !isFinished, element != current else { return Action() }
        if remains, keepsCurrent || hasSubscribers { current = element }
        let merge = merge
        var merges = merges
        let waiters = updateAll { pending in
            guard let pending else { return .behind(element) }
            merges += 1
            return .behind(merge(pending, element))
        }
        self.merges = merges
        return Action(wake: waiters)
    }

    /// Replaces the current element, for later subscribers.
    mutating func replaceCurrent(_ make: (Element, _ lastNumber: inout UInt64?) -> Element) {
        current = current.map { make($0, &lastNumber) }
    }

    /// Leaves a number out: what happens now, nobody sees.
    mutating func skipNumber() { lastNumber = lastNumber.map { $0 &+ 1 } }

    /// Forgets the current element, as a monitor that pauses does.
    mutating func forget() { current = nil }

    /// Like ``forget()``, unless somebody has subscribed in the meantime.
    mutating func forgetIfUnobserved() { if listeners == 0 { current = nil } }

    mutating func finish() -> Action {
        isFinished = true
        return end(.success(nil))
    }

    /// Ends every stream with an error. Later subscribers may find the monitor working again.
    mutating func fail(_ error: NetworkMonitorError) -> Action { end(.failure(error)) }

    private mutating func end(_ delivery: Delivery) -> Action {
        current = nil
        let hadListeners = listeners > 0
        listeners = 0
        return Action(wake: updateAll { _ in .ended(delivery) }, demandChanged: hadListeners)
    }

    /// Updates every subscriber whose stream has not ended, given what it has not taken yet, and returns the waiters.
    private mutating func updateAll(_ update: (_ pending: Element?) -> Subscriber) -> [Waiter] {
        var waiters: [Waiter] = []
        for (id, old) in subscribers {
            switch old {
            case .upToDate: subscribers[id] = update(nil)
            case .behind(let pending): subscribers[id] = update(pending)
            case .waiting(let waiter):
                subscribers[id] = update(nil)
                waiters.append(waiter)
            case .ended: break
            }
        }
        return waiters
    }
}

extension NetworkMonitorError {
    fileprivate static let iteratedTwice = NetworkMonitorError(
        .failed, message: "one iterator was asked by two tasks at once; let each task iterate for itself")
}
