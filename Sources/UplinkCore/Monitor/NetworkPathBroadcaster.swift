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
    let list: SubscriberList<NetworkPath>

    /// Makes a broadcaster that knows no path yet.
    ///
    /// - Parameter onDemandChange: Called when the first subscriber came, and when the last one left or all streams were
    ///   ended, on whatever thread did it; read ``hasSubscribers`` there, since a call may arrive after the next change.
    ///   Must return at once.
    public init(onDemandChange: @escaping @Sendable () -> Void = {}) {
        list = SubscriberList(merging: { $1 }, onDemandChange: onDemandChange)
    }

    /// The path sent last, or nil when none is known.
    public var currentPath: NetworkPath? { list.current }

    /// Whether anybody listens.
    public var hasSubscribers: Bool { list.hasSubscribers }

    /// How many paths subscribers did not take before the next one came in their place.
    public var supersededPaths: UInt64 { list.merges }

    /// The sequence to hand out; each iteration subscribes anew.
    public var paths: NetworkPaths { NetworkPaths(broadcaster: self) }

    /// Makes a path the current one and tells all subscribers, unless it equals the current one.
    ///
    /// A path whose ``NetworkPath/generation`` is not above that of the one before gets the next number, so that a monitor
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

    /// Makes a path the current one under the next number, even if it equals the one before.
    package func sendAnew(_ path: NetworkPath) {
        list.send(remains: true) { _, last in
            var path = path
            path.generation = (last ?? 0) &+ 1
            last = path.generation
            return path
        }
    }

    /// Gives the current path a higher number, and tells nobody: it is as it was, and was another one in between.
    ///
    /// Who looks at it sees the gap, and so does who waits until it has been stable for long enough. The number is this
    /// one, or a higher one where the paths were numbered here.
    package func renumber(to generation: UInt64) {
        list.replaceCurrent { path, last in
            var path = path
            path.generation = max(generation, path.generation &+ 2, (last ?? 0) &+ 1)
            last = path.generation
            return path
        }
    }

    /// Forgets the current path, because it is not known any more.
    public func forget() {
        leaveGap()
        list.forget()
    }

    /// Forgets the current path if nobody listens: what a monitor does that pauses, lest it forget what a subscriber
    /// who comes at this moment was just told.
    public func forgetIfUnobserved() {
        leaveGap()
        list.forgetIfUnobserved()
    }

    /// Ends all streams, for ever: those who subscribe later find an ended stream.
    public func finish() { list.finish() }

    /// Ends all streams with an error. Those who subscribe later start anew.
    public func fail(_ error: NetworkMonitorError) {
        leaveGap()
        list.fail(error)
    }

    /// What is not seen meanwhile counts as a change.
    private func leaveGap() { list.skipNumber() }
}
