// SPDX-License-Identifier: Apache-2.0

/// Who listens to a monitor, and what each has still to hear: the broadcaster's state machine.
///
/// A waiter is only woken; what it was woken for it takes itself, under the lock. (A value inside a continuation is
/// invisible to ThreadSanitizer where the resumption overtakes the suspension.)
struct PathSubscribers {
    /// What a subscriber's `next()` returns: a path, nil at the end, or an error.
    typealias Delivery = Result<NetworkPath?, NetworkMonitorError>
    typealias Waiter = CheckedContinuation<Void, Never>

    /// What a subscriber is doing.
    enum Subscriber {
        /// It has heard the newest path, or there is none, and is busy with it.
        case upToDate
        /// It is busy or has been woken, and this path is there for it.
        case behind(NetworkPath)
        /// It waits for a path.
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

    private(set) var currentPath: NetworkPath?
    private(set) var isFinished = false
    private var subscribers: [UInt64: Subscriber] = [:]
    private var lastID: UInt64 = 0
    /// Those whose stream has not ended. The others make no demand, though they may still hold their place.
    private var listeners = 0

    var hasSubscribers: Bool { listeners > 0 }

    mutating func subscribe() -> (id: UInt64, action: Action) {
        lastID += 1
        guard !isFinished else {
            subscribers[lastID] = .ended(.success(nil))
            return (lastID, Action())
        }
        subscribers[lastID] = currentPath.map(Subscriber.behind) ?? .upToDate
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
        case .behind(let path):
            if isCancelled { return .success(nil) }
            subscribers[id] = .upToDate
            return .success(path)
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

    mutating func send(_ path: NetworkPath) -> Action {
        guard !isFinished, path != currentPath else { return Action() }
        currentPath = path
        return Action(wake: setAll(to: .behind(path)))
    }

    /// Forgets the path, as a monitor that pauses does.
    mutating func forget() { currentPath = nil }

    /// The same, unless somebody has come meanwhile.
    mutating func forgetIfUnobserved() { if listeners == 0 { currentPath = nil } }

    mutating func finish() -> Action {
        isFinished = true
        return end(.success(nil))
    }

    /// Ends everybody's stream. Those who subscribe later may find the monitor working again.
    mutating func fail(_ error: NetworkMonitorError) -> Action { end(.failure(error)) }

    private mutating func end(_ delivery: Delivery) -> Action {
        currentPath = nil
        let hadListeners = listeners > 0
        listeners = 0
        return Action(wake: setAll(to: .ended(delivery)), demandChanged: hadListeners)
    }

    /// Gives the same to all whose stream has not ended, and says who waits for it.
    private mutating func setAll(to subscriber: Subscriber) -> [Waiter] {
        var waiters: [Waiter] = []
        for (id, old) in subscribers {
            switch old {
            case .upToDate, .behind: subscribers[id] = subscriber
            case .waiting(let waiter):
                subscribers[id] = subscriber
                waiters.append(waiter)
            case .ended: break
            }
        }
        return waiters
    }
}

extension NetworkMonitorError {
    fileprivate static let iteratedTwice = NetworkMonitorError(
        .failed, message: "one iterator of `paths` was asked by two tasks at once; let each task iterate for itself")
}
