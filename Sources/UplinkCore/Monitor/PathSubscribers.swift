// SPDX-License-Identifier: Apache-2.0

/// Who listens to a monitor, and what each has still to hear: the broadcaster's state machine.
struct PathSubscribers {
    /// What a subscriber's `next()` returns: a path, nil at the end, or an error.
    typealias Delivery = Result<NetworkPath?, NetworkMonitorError>
    typealias Waiter = CheckedContinuation<Delivery, Never>

    /// What a subscriber is doing.
    enum Subscriber {
        /// It is busy with what it has, and has heard the newest path or there is none.
        case upToDate
        /// It is busy, and this path is waiting for it.
        case behind(NetworkPath)
        /// It waits for a path.
        case waiting(Waiter)
        /// Its stream has ended; this is told at every further `next()`, an error once.
        case ended(Delivery)
    }

    /// What is to be done outside the lock.
    enum Action {
        /// Nothing.
        case none
        /// Resume these with the delivery.
        case resume([Waiter], Delivery)
        /// The streams have ended: resume these with the delivery, and tell the monitor that nobody listens.
        case end([Waiter], Delivery)
        /// Tell the monitor that the first subscriber came or the last one left.
        case demandChanged
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
            return (lastID, .none)
        }
        subscribers[lastID] = currentPath.map(Subscriber.behind) ?? .upToDate
        listeners += 1
        return (lastID, listeners == 1 ? .demandChanged : .none)
    }

    mutating func unsubscribe(_ id: UInt64) -> Action {
        switch subscribers.removeValue(forKey: id) {
        case nil, .ended: return .none
        case .upToDate, .behind, .waiting:
            listeners -= 1
            return listeners == 0 ? .demandChanged : .none
        }
    }

    mutating func wait(_ id: UInt64, _ waiter: Waiter, isCancelled: Bool) -> Action {
        guard let subscriber = subscribers[id] else { return .resume([waiter], .success(nil)) }
        switch subscriber {
        case .ended(let delivery):
            subscribers[id] = .ended(.success(nil))
            return .resume([waiter], delivery)
        case .behind(let path):
            if isCancelled { return .resume([waiter], .success(nil)) }
            subscribers[id] = .upToDate
            return .resume([waiter], .success(path))
        case .upToDate:
            if isCancelled { return .resume([waiter], .success(nil)) }
            subscribers[id] = .waiting(waiter)
            return .none
        case .waiting:
            preconditionFailure("NetworkPaths.Iterator.next() was called by two tasks at once")
        }
    }

    /// A cancelled task's `next()` returns nil; the subscription itself stays until its iterator goes.
    mutating func cancel(_ id: UInt64) -> Action {
        guard case .waiting(let waiter) = subscribers[id] else { return .none }
        subscribers[id] = .upToDate
        return .resume([waiter], .success(nil))
    }

    mutating func send(_ path: NetworkPath) -> Action {
        guard !isFinished, path != currentPath else { return .none }
        currentPath = path
        var waiters: [Waiter] = []
        for (id, subscriber) in subscribers {
            switch subscriber {
            case .upToDate, .behind: subscribers[id] = .behind(path)
            case .waiting(let waiter):
                subscribers[id] = .upToDate
                waiters.append(waiter)
            case .ended: break
            }
        }
        return .resume(waiters, .success(path))
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
        var waiters: [Waiter] = []
        for (id, subscriber) in subscribers {
            switch subscriber {
            case .upToDate, .behind: subscribers[id] = .ended(delivery)
            case .waiting(let waiter):
                subscribers[id] = .ended(.success(nil))
                waiters.append(waiter)
            case .ended: break
            }
        }
        return hadListeners ? .end(waiters, delivery) : .none
    }
}
