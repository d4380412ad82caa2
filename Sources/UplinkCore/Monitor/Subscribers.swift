// SPDX-License-Identifier: Apache-2.0

/// Who listens to a monitor, and what each has still to hear: the broadcasters' state machine.
///
/// What a subscriber has not taken yet is merged with what comes after it, so that a slow one costs no more than one
/// element. A waiter is only woken; what it was woken for it takes itself, under the lock. (A value inside a continuation is
/// invisible to ThreadSanitizer where the resumption overtakes the suspension.)
struct Subscribers<Element: Sendable & Equatable> {
    /// What a subscriber's `next()` returns: an element, nil at the end, or an error.
    typealias Delivery = Result<Element?, NetworkMonitorError>
    typealias Waiter = CheckedContinuation<Void, Never>

    /// What a subscriber is doing.
    enum Subscriber {
        /// It has heard all there was, and is busy with it.
        case upToDate
        /// It is busy or has been woken, and this is there for it.
        case behind(Element)
        /// It waits for an element.
        case waiting(Waiter)
        /// Its stream has ended with this, which is still to be told; later it is told the end.
        case ended(Delivery)
    }

    /// What is to be done outside the lock.
    struct Action {
        /// Whom to wake.
        var wake: [Waiter] = []
        /// Whether to tell the monitor that the first subscriber came, or that nobody listens any more.
        var demandChanged = false
    }

    /// Puts what a subscriber has not taken yet together with what follows.
    private let merge: @Sendable (_ old: Element, _ new: Element) -> Element
    /// What a new subscriber gets first.
    private(set) var current: Element?
    /// The number of the last element, where its owner numbers them.
    var lastNumber: UInt64?
    private(set) var isFinished = false
    /// How often a subscriber had not taken an element when the next one came.
    private(set) var merges: UInt64 = 0
    private var subscribers: [UInt64: Subscriber] = [:]
    private var lastID: UInt64 = 0
    /// Those whose stream has not ended. The others make no demand, though they may still hold their place.
    private var listeners = 0

    init(merging merge: @escaping @Sendable (_ old: Element, _ new: Element) -> Element) { self.merge = merge }

    var hasSubscribers: Bool { listeners > 0 }

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
            return Action(demandChanged: listeners == 0)
        }
    }

    /// What there is for a subscriber, or nil when it has to wait. A cancelled task's stream is over.
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

    /// Lets a subscriber wait, unless there is something for it by now.
    mutating func park(_ id: UInt64, _ waiter: Waiter, isCancelled: Bool) -> Action {
        guard case .upToDate = subscribers[id], !isCancelled else { return Action(wake: [waiter]) }
        subscribers[id] = .waiting(waiter)
        return Action()
    }

    /// Wakes a cancelled task; the subscription itself stays until its iterator goes.
    mutating func cancel(_ id: UInt64) -> Action {
        guard case .waiting(let waiter) = subscribers[id] else { return Action() }
        subscribers[id] = .upToDate
        return Action(wake: [waiter])
    }

    /// Gives an element to all who listen, and to those who come later if it `remains` true.
    mutating func send(_ element: Element, remains: Bool) -> Action {
        guard !isFinished, element != current else { return Action() }
        if remains { current = element }
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

    /// Makes another element of the current one, for those who come later.
    mutating func replaceCurrent(_ make: (Element, _ lastNumber: inout UInt64?) -> Element) {
        current = current.map { make($0, &lastNumber) }
    }

    /// Forgets what is true now, as a monitor that pauses does.
    mutating func forget() { current = nil }

    /// The same, unless somebody has come meanwhile.
    mutating func forgetIfUnobserved() { if listeners == 0 { current = nil } }

    mutating func finish() -> Action {
        isFinished = true
        return end(.success(nil))
    }

    /// Ends everybody's stream. Those who subscribe later may find the monitor working again.
    mutating func fail(_ error: NetworkMonitorError) -> Action { end(.failure(error)) }

    private mutating func end(_ delivery: Delivery) -> Action {
        current = nil
        let hadListeners = listeners > 0
        listeners = 0
        return Action(wake: updateAll { _ in .ended(delivery) }, demandChanged: hadListeners)
    }

    /// Changes all whose stream has not ended, by what they have not taken yet, and says who waits.
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
