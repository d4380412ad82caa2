// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

/// Checks that a monitor keeps the promises of `NetworkMonitor`, however it is implemented.
///
/// Each check makes a monitor of its own, and throws a ``NetworkMonitorConformanceError`` that says what was promised
/// and what was seen; what the closures throw it throws as it is, but for errors of monitors. They need no test
/// framework:
///
/// ```swift
/// @Test func keepsThePromises() async throws {
///     try await NetworkMonitorConformance(
///         make: { StubNetworkMonitor(.offline()) }, goOnline: { $0.goOnline() }, goOffline: { $0.goOffline() }
///     ).check()
/// }
/// ```
public struct NetworkMonitorConformance<Monitor: NetworkMonitor>: Sendable {
    let make: @Sendable () async throws -> Monitor
    let goOnline: @Sendable (Monitor) async throws -> Void
    let goOffline: @Sendable (Monitor) async throws -> Void
    let stop: (@Sendable (Monitor) async throws -> Void)?
    let patience: Duration

    /// Creates the checks from closures that make a monitor and change what it sees.
    ///
    /// - Parameters:
    ///   - make: Makes a monitor without subscribers.
    ///   - goOnline: Makes a network available to the monitor, so that its path is satisfied; returns when it is there.
    ///   - goOffline: Takes that network away; returns when it is gone. The first path that a new subscriber gets must
    ///     be unsatisfied by then.
    ///   - stop: Ends the monitor for ever; nil if it cannot be ended.
    ///   - patience: How long each step may take, in real time; more than zero. A closure that ignores cancellation
    ///     holds up its check for longer.
    public init(
        make: @escaping @Sendable () async throws -> Monitor,
        goOnline: @escaping @Sendable (Monitor) async throws -> Void,
        goOffline: @escaping @Sendable (Monitor) async throws -> Void,
        stop: (@Sendable (Monitor) async throws -> Void)? = nil, patience: Duration = .seconds(5)
    ) {
        (self.make, self.goOnline, self.goOffline) = (make, goOnline, goOffline)
        (self.stop, self.patience) = (stop, patience.clamped)
    }

    /// Runs all checks, one after the other.
    ///
    /// - Throws: ``NetworkMonitorConformanceError`` at the first promise that is broken, whatever a closure throws, or
    ///   `NetworkOperationError` with `invalidArgument` when the patience is zero or less.
    public func check() async throws {
        try await checkFirstPathComesInTime()
        try await checkCurrentPathIsNoGuess()
        try await checkCurrentPathIsKnownToSubscribers()
        try await checkChangesAreTold()
        try await checkNewSubscribersGetTheCurrentPathFirst()
        try await checkSeveralSubscribersAreTold()
        try await checkASlowSubscriberGetsTheNewestPath()
        try await checkGenerationsRise()
        try await checkCancellationEndsTheStream()
        try await checkSubscribingAgainWorks()
        try await checkNoPathIsOutOfDate()
        if stop != nil { try await checkStopIsFinal() }
    }

    /// Checks that the first path comes within `NetworkMonitor.timeToFirstPath`, with the patience as slack for a busy
    /// machine.
    public func checkFirstPathComesInTime() async throws {
        let limit: @Sendable (Monitor) -> Duration = { ($0.timeToFirstPath.clamped + patience).clamped }
        try await check("the first path comes within timeToFirstPath", within: limit) { monitor in
            var paths = monitor.paths.makeAsyncIterator()
            return try await paths.next() != nil ? nil : "the stream ended without a path"
        }
    }

    /// Checks that `NetworkMonitor.currentPath` is nil or right before anybody subscribes.
    public func checkCurrentPathIsNoGuess() async throws {
        try await check("currentPath is nil or right before anybody subscribes") { monitor in
            for isOnline in [false, true, false] {
                try await turn(monitor, online: isOnline)
                if let wrong = try await stalePath(of: monitor, online: isOnline) { return wrong }
            }
            return nil
        }
    }

    /// Checks that `NetworkMonitor.currentPath` is known as soon as a subscriber has got a path, and is that path.
    public func checkCurrentPathIsKnownToSubscribers() async throws {
        try await check("currentPath is what the subscribers were told last") { monitor in
            var paths = monitor.paths.makeAsyncIterator()
            for isOnline in [true, false] {
                try await turn(monitor, online: isOnline)
                var told = try await paths.next()
                while let path = told, path.isSatisfied != isOnline { told = try await paths.next() }
                guard let current = monitor.currentPath else { return "currentPath is nil while somebody subscribes" }
                if current.isSatisfied != isOnline { return "currentPath is \(current)" }
                if let told,
                    current.generation < told.generation || current.generation == told.generation && current != told
                {
                    return "currentPath is \(current), number \(current.generation); told was \(told), number "
                        + "\(told.generation)"
                }
            }
            withExtendedLifetime(paths) {}
            return nil
        }
    }

    /// Checks that a subscriber gets each change that lasts, in order.
    public func checkChangesAreTold() async throws {
        try await check("every change that lasts is told, in order") { monitor in
            try await goOffline(monitor)
            var paths = monitor.paths.makeAsyncIterator()
            for isOnline in [false, true, false, true] {
                try await turn(monitor, online: isOnline)
                if let end = try await paths.path(isSatisfied: isOnline) { return end }
            }
            return nil
        }
    }

    /// Checks that a new subscriber gets the path, if it is known, without waiting for a change.
    public func checkNewSubscribersGetTheCurrentPathFirst() async throws {
        try await check("a new subscriber gets the current path first") { monitor in
            var first = monitor.paths.makeAsyncIterator()
            try await goOnline(monitor)
            if let end = try await first.path(isSatisfied: true) { return end }
            var second = monitor.paths.makeAsyncIterator()
            let path = try await second.next()
            return path?.isSatisfied == true ? nil : "it got \(path.map(\.description) ?? "the end")"
        }
    }

    /// Checks that each of several subscribers gets the changes.
    public func checkSeveralSubscribersAreTold() async throws {
        try await check("each of several subscribers is told") { monitor in
            try await goOffline(monitor)
            var iterators = (0..<5).map { _ in monitor.paths.makeAsyncIterator() }
            for isOnline in [false, true, false] {
                try await turn(monitor, online: isOnline)
                for index in iterators.indices {
                    if let end = try await iterators[index].path(isSatisfied: isOnline) { return end }
                }
            }
            return nil
        }
    }

    /// Checks that a subscriber that does not ask for a long time gets the newest path and delays no one.
    public func checkASlowSubscriberGetsTheNewestPath() async throws {
        try await check("a slow subscriber gets the newest path, and delays nobody") { monitor in
            try await goOffline(monitor)
            var slow = monitor.paths.makeAsyncIterator()
            var quick = monitor.paths.makeAsyncIterator()
            if let end = try await slow.path(isSatisfied: false) { return end }
            for isOnline in [false, true, false, true] {
                try await turn(monitor, online: isOnline)
                if let end = try await quick.path(isSatisfied: isOnline) { return end }
            }
            let path = try await slow.next()
            return path?.isSatisfied == true ? nil : "it got \(path.map(\.description) ?? "the end")"
        }
    }

    /// Checks that `NetworkPath.generation` rises with every path, also from one subscription to the next, which a
    /// `NetworkPathBroadcaster` takes care of.
    public func checkGenerationsRise() async throws {
        try await check("the generation rises with every path") { monitor in
            var last: NetworkPath?
            for _ in 0..<2 {
                try await goOffline(monitor)
                var paths = monitor.paths.makeAsyncIterator()
                for isOnline in [false, true, false] {
                    try await turn(monitor, online: isOnline)
                    repeat {
                        guard let path = try await paths.next() else { return "the stream ended" }
                        // A new subscriber is told what is so, which may be the last path again.
                        if let last, path.generation <= last.generation, path != last {
                            return "\(path.generation) came after \(last.generation)"
                        }
                        last = path
                    } while last?.isSatisfied != isOnline
                }
            }
            return nil
        }
    }

    /// Checks that a cancelled task's iteration ends.
    public func checkCancellationEndsTheStream() async throws {
        try await check("a cancelled task's iteration ends") { monitor in
            let task = Task { for try await _ in monitor.paths {} }
            await Task.yield()
            task.cancel()
            try await task.value
            return nil
        }
    }

    /// Checks that after the last subscriber has left, the next one gets paths again.
    public func checkSubscribingAgainWorks() async throws {
        try await check("who subscribes after all have left is told again, and what is so then") { monitor in
            for isOnline in [true, false, true] {
                try await turn(monitor, online: isOnline)
                var paths = monitor.paths.makeAsyncIterator()
                if let end = try await paths.path(isSatisfied: isOnline) { return end }
            }
            return nil
        }
    }

    /// Checks that once the last subscriber has left and the network has changed, `NetworkMonitor.currentPath` is nil
    /// or right, and so is the first path that the next subscriber gets: a performer starts operations on either.
    public func checkNoPathIsOutOfDate() async throws {
        try await check("no path is out of date after the last subscriber has left: currentPath, the first one told") {
            monitor in
            for isOnline in [true, false, true] {
                try await turn(monitor, online: isOnline)
                do {
                    var paths = monitor.paths.makeAsyncIterator()
                    if let end = try await paths.path(isSatisfied: isOnline) { return end }
                }
                try await turn(monitor, online: !isOnline)
                if let wrong = try await stalePath(of: monitor, online: !isOnline) { return wrong }
                var paths = monitor.paths.makeAsyncIterator()
                guard let first = try await paths.next() else { return "the stream ended" }
                if first.isSatisfied == isOnline { return "the first path was \(first)" }
            }
            return nil
        }
    }

    /// Checks that a stop ends the streams, also those of later subscribers, and that no path is known then.
    public func checkStopIsFinal() async throws {
        guard let stop else { return }
        try await check("a stop ends the streams, for ever, and no path is known then") { monitor in
            try await goOnline(monitor)
            var paths = monitor.paths.makeAsyncIterator()
            _ = try await paths.next()
            try await stop(monitor)
            while try await paths.next() != nil {}
            for try await path in monitor.paths { return "a later subscriber got \(path)" }
            return try await stalePath(of: monitor, online: nil)
        }
    }
}

extension NetworkMonitorConformance {
    private func turn(_ monitor: Monitor, online isOnline: Bool) async throws {
        if isOnline { try await goOnline(monitor) } else { try await goOffline(monitor) }
    }

    /// What is wrong if `currentPath` stays neither nil nor as wanted; a monitor may take a while to notice a change,
    /// or that it is no longer needed.
    private func stalePath(of monitor: Monitor, online isOnline: Bool?) async throws -> String? {
        do {
            try await eventually(within: patience / 2, "a path that is right") {
                monitor.currentPath.map { $0.isSatisfied == isOnline } ?? true
            }
            return nil
        } catch is WaitedInVain {
            return "currentPath is still \(monitor.currentPath?.description ?? "nil")"
        }
    }

    /// - Parameters:
    ///   - limit: How long the check may take when it has a monitor; nil for the patience.
    ///   - body: Returns what is wrong, or nil.
    private func check(
        _ promise: String, within limit: (@Sendable (Monitor) -> Duration)? = nil,
        _ body: @escaping @Sendable (Monitor) async throws -> String?
    ) async throws {
        guard patience > .zero else {
            throw NetworkOperationError(
                .invalidArgument, message: "the checks have a patience of \(patience); give them more than zero")
        }
        let monitor = try await limited(to: patience, promise, late: "no monitor was made", make)
        let found = try await limited(to: limit?(monitor) ?? patience, promise, late: "it did not happen") {
            do {
                return try await body(monitor)
            } catch let error as NetworkMonitorError {
                return "the stream failed: \(error)"
            }
        }
        try Task.checkCancellation()  // which ends the streams as well
        if let found { throw NetworkMonitorConformanceError(promise: promise, found: found) }
    }

    private func limited<Value: Sendable>(
        to limit: Duration, _ promise: String, late: String, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit, clock: .continuous)
                throw NetworkMonitorConformanceError(promise: promise, found: "\(late) within \(limit)")
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }  // there are two
            return first
        }
    }
}

extension NetworkPaths.Iterator {
    /// Reads on until a path is as wanted; returns what is wrong if none comes.
    fileprivate mutating func path(isSatisfied: Bool) async throws -> String? {
        while let path = try await next() { if path.isSatisfied == isSatisfied { return nil } }
        return "the stream ended"
    }
}

/// A promise of `NetworkMonitor` that a monitor does not keep.
public struct NetworkMonitorConformanceError: Error, Sendable, CustomStringConvertible {
    /// What is promised.
    public let promise: String
    /// What was seen instead.
    public let found: String
    /// What was promised and what was seen.
    public var description: String { "broken promise: \(promise). Seen: \(found)" }
}
