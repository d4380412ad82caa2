// SPDX-License-Identifier: Apache-2.0

/// Distributes the paths of one source to any number of subscribers: the building block for a ``NetworkMonitor``.
///
/// It forgets the path when the last subscriber leaves, and keeps none that is sent while there is no subscriber: a
/// monitor that looks at the network only while somebody subscribes then has no old path to tell. A monitor whose path
/// is right at any time says so with `keepsPath`. Every method may be called from any thread.
///
/// ```swift
/// final class AlwaysOnline: NetworkMonitor {
///     private let broadcaster = NetworkPathBroadcaster(keepsPath: true)  // it never changes
///     var currentPath: NetworkPath? { broadcaster.currentPath }
///     var paths: NetworkPaths { broadcaster.paths }
///     init() { broadcaster.send(NetworkPath(status: .satisfied, scope: .global)) }
/// }
/// ```
public final class NetworkPathBroadcaster: Sendable {
    let list: SubscriberList<NetworkPath>

    /// Makes a broadcaster that knows no path yet.
    ///
    /// - Parameters:
    ///   - keepsPath: Whether the path stays known while nobody subscribes. Only for a monitor that goes on sending
    ///     every change then, or calls ``forget()`` or ``forgetIfUnobserved()`` when it no longer does: a performer
    ///     starts operations on the path that is known, and offline ones on one that is out of date.
    ///   - onDemandChange: Called when the first subscriber arrives, and when the last one leaves or all streams are
    ///     ended, on the thread that caused it. Read ``hasSubscribers`` there, since a call may arrive after the next
    ///     change. Must return immediately.
    public init(keepsPath: Bool = false, onDemandChange: @escaping @Sendable () -> Void = {}) {
        list = SubscriberList(keepsCurrent: keepsPath, merging: { $1 }, onDemandChange: onDemandChange)
    }

    /// The most recently sent path; nil when none is known, after a failure and the end, and, unless the broadcaster
    /// keeps its path, while there is no subscriber.
    public var currentPath: NetworkPath? { list.current }

    /// Whether there are subscribers.
    public var hasSubscribers: Bool { list.hasSubscribers }

    /// Whether there are this many subscribers, and all there are have taken what was sent and wait for more.
    package func subscribersAreWaiting(atLeast count: Int) -> Bool { list.areWaiting(atLeast: count) }

    /// How many paths were replaced by a newer one before a subscriber had taken them.
    public var supersededPaths: UInt64 { list.merges }

    /// The sequence to hand out; each iteration is a new subscription.
    public var paths: NetworkPaths { NetworkPaths(broadcaster: self) }

    /// Makes a path the current one and sends it to all subscribers, unless it equals the current one. Without
    /// subscribers it is not kept, unless the broadcaster keeps its path.
    ///
    /// A path whose ``NetworkPath/generation`` is not above that of the previous one gets the next number, so a monitor
    /// need not count.
    public func send(_ path: NetworkPath) {
        list.send(remains: true) { current, last in
            var path = path
            if let number = last, path.generation <= number {
                path.generation = current?.generation ?? number
                if path == current { return nil }
                path.generation = number &+ 1
            }
            last = path.generation
            return path
        }
    }

    /// Makes a path the current one under the next number, even if it equals the current one.
    package func sendAnew(_ path: NetworkPath) {
        list.send(remains: true) { _, last in
            var path = path
            path.generation = (last ?? 0) &+ 1
            last = path.generation
            return path
        }
    }

    /// Gives the current path a higher number without sending it: it is as it was, but was a different one in between.
    ///
    /// Code that reads the path sees the gap, and so does a call that waits for a stable network. The new number is the
    /// one given, or a higher one if the paths were numbered by this broadcaster.
    package func renumber(to generation: UInt64) {
        list.replaceCurrent { path, last in
            var path = path
            path.generation = max(generation, path.generation &+ 2, (last ?? 0) &+ 1)
            last = path.generation
            return path
        }
    }

    /// Forgets the current path because it is no longer known.
    public func forget() {
        leaveGap()
        list.forget()
    }

    /// Forgets the current path if there are no subscribers. For a monitor that keeps its path and pauses: it must not
    /// forget a path that a subscriber arriving at this moment has just been sent.
    public func forgetIfUnobserved() {
        leaveGap()
        list.forgetIfUnobserved()
    }

    /// Ends all streams permanently: later subscribers find an ended stream.
    public func finish() { list.finish() }

    /// Ends all streams with an error. Later subscribers start again.
    public func fail(_ error: NetworkMonitorError) {
        leaveGap()
        list.fail(error)
    }

    /// The time that is not observed counts as a change.
    private func leaveGap() { list.skipNumber() }
}
