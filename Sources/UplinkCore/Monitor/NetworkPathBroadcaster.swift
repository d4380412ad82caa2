// SPDX-License-Identifier: Apache-2.0

/// Gives one source of paths to any number of subscribers: the means to make a ``NetworkMonitor``.
///
/// Every method may be called from any thread.
///
/// ```swift
/// final class AlwaysOnline: NetworkMonitor {
///     private let broadcaster = NetworkPathBroadcaster()
///     var currentPath: NetworkPath? { broadcaster.currentPath }
///     var paths: NetworkPaths { broadcaster.paths }
///     init() { broadcaster.send(NetworkPath(status: .satisfied, scope: .global)) }
/// }
/// ```
public final class NetworkPathBroadcaster: Sendable {
    private let subscribers = Locked(PathSubscribers())
    private let onDemandChange: @Sendable () -> Void

    /// Makes a broadcaster that knows no path yet.
    ///
    /// - Parameter onDemandChange: Called when the first subscriber came, and when the last one left or all streams were
    ///   ended, on whatever thread did it; read ``hasSubscribers`` there, since a call may arrive after the next change. Must return at once.
    public init(onDemandChange: @escaping @Sendable () -> Void = {}) { self.onDemandChange = onDemandChange }

    /// The path sent last, or nil when none is known.
    public var currentPath: NetworkPath? { subscribers.withLock { $0.currentPath } }

    /// Whether anybody listens.
    public var hasSubscribers: Bool { subscribers.withLock { $0.hasSubscribers } }

    /// The sequence to hand out; each iteration subscribes anew.
    public var paths: NetworkPaths { NetworkPaths(broadcaster: self) }

    /// Makes a path the current one and tells all subscribers, unless it equals the current one.
    public func send(_ path: NetworkPath) { perform(subscribers.withLock { $0.send(path) }) }

    /// Forgets the current path, because it is not known any more.
    public func forget() { subscribers.withLock { $0.forget() } }

    /// Forgets the current path if nobody listens: what a monitor does that pauses, lest it forget what a subscriber
    /// who comes at this moment was just told.
    public func forgetIfUnobserved() { subscribers.withLock { $0.forgetIfUnobserved() } }

    /// Ends all streams, for ever: those who subscribe later find an ended stream.
    public func finish() { perform(subscribers.withLock { $0.finish() }) }

    /// Ends all streams with an error. Those who subscribe later start anew.
    public func fail(_ error: NetworkMonitorError) { perform(subscribers.withLock { $0.fail(error) }) }

    func subscribe() -> UInt64 {
        let (id, action) = subscribers.withLock { $0.subscribe() }
        perform(action)
        return id
    }

    func unsubscribe(_ id: UInt64) { perform(subscribers.withLock { $0.unsubscribe(id) }) }

    func take(_ id: UInt64) -> PathSubscribers.Delivery? {
        subscribers.withLock { $0.take(id, isCancelled: Task.isCancelled) }
    }

    func park(_ id: UInt64, _ waiter: PathSubscribers.Waiter) {
        perform(subscribers.withLock { $0.park(id, waiter, isCancelled: Task.isCancelled) })
    }

    func cancel(_ id: UInt64) { perform(subscribers.withLock { $0.cancel(id) }) }

    private func perform(_ action: PathSubscribers.Action) {
        for waiter in action.wake { waiter.resume() }
        if action.demandChanged { onDemandChange() }
    }
}
