// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Decides when a path is published: the monitor's state machine for time.
///
/// The first change is published immediately; the next one waits until the minimum interval has passed, and the newest
/// is published then. Further changes never prolong the wait, so a flapping network is still reported. A loss can be
/// held back for longer (`settle`), to see whether the network comes back. The return of the network is never held
/// back. Since the losses keep the interval, there are at most two elements per interval.
struct PathEmission {
    typealias Instant = SuspendingClock.Instant

    /// The path that was last published.
    struct Told: Equatable {
        let key: PathKey
        let isSatisfied: Bool
        let at: Instant
    }

    /// What the subscribers have got.
    enum State: Equatable {
        /// Nothing yet.
        case silent
        /// The newest path.
        case told(Told)
        /// An older path; a newer one is waiting for its time.
        case holding(NetworkPath, until: Instant, told: Told)
    }

    /// What to do.
    enum Action: Equatable {
        /// Nothing.
        case none
        /// Publish this path.
        case emit(NetworkPath)
        /// Call `timerFired` after this long.
        case wait(Duration)
        /// Give this number to the last published path without publishing it again: it is as it was, but was different
        /// in between.
        case renumber(UInt64)
    }

    let minimumInterval: Duration
    /// How long a loss is held back.
    let settle: Duration
    private(set) var state = State.silent
    /// Increases with every change that was seen, even if it was undone before it could be published, and when nothing
    /// could be seen for a while.
    private(set) var generation: UInt64 = 0
    /// Changes not published because another one followed before their time.
    private(set) var suppressed: UInt64 = 0
    /// Paths published.
    private(set) var emitted: UInt64 = 0

    init(minimumInterval: Duration, settle: Duration = .zero) {
        self.minimumInterval = minimumInterval
        self.settle = settle
    }

    /// Processes the current path.
    mutating func evaluated(_ path: NetworkPath, at now: Instant) -> Action {
        let key = PathKey(path)
        switch state {
        case .silent:
            return emit(numbered(path), at: now)
        case .told(let told):
            return key == told.key ? .none : change(to: path, told, at: now)
        case .holding(let held, let until, let told):
            if key == PathKey(held) {
                state = .holding(path.numbered(held.generation), until: until, told: told)
                return .none
            }
            suppressed += 1
            if key == told.key {
                generation += 1
                state = .told(told)
                return .renumber(generation)
            }
            // A loss whose reason changes is still the same loss: its time counts from its beginning.
            let isSameLoss = told.isSatisfied && !held.isSatisfied && !path.isSatisfied
            if isSameLoss { return hold(numbered(path), until: until, told, at: now) }
            return change(to: path, told, at: now)
        }
    }

    /// Publishes what has been held back, if its time has come.
    mutating func timerFired(at now: Instant) -> Action {
        switch state {
        case .silent, .told: .none
        case .holding(let path, let until, let told): hold(path, until: until, told, at: now)
        }
    }

    /// Forgets what was published, because there are no subscribers any more or nothing can be seen. Whatever happens
    /// in the meantime counts as a change.
    mutating func restart() {
        state = .silent
        generation += 1
    }

    private mutating func change(to path: NetworkPath, _ told: Told, at now: Instant) -> Action {
        if !told.isSatisfied, path.isSatisfied { return emit(numbered(path), at: now) }
        let isLoss = told.isSatisfied && !path.isSatisfied
        return hold(
            numbered(path), until: max(told.at + minimumInterval, isLoss ? now + settle : now), told, at: now)
    }

    private mutating func hold(_ path: NetworkPath, until: Instant, _ told: Told, at now: Instant) -> Action {
        if until <= now { return emit(path, at: now) }
        state = .holding(path, until: until, told: told)
        return .wait(now.duration(to: until))
    }

    private mutating func emit(_ path: NetworkPath, at now: Instant) -> Action {
        emitted += 1
        state = .told(Told(key: PathKey(path), isSatisfied: path.isSatisfied, at: now))
        return .emit(path)
    }

    private mutating func numbered(_ path: NetworkPath) -> NetworkPath {
        generation += 1
        return path.numbered(generation)
    }
}

extension NetworkPath {
    fileprivate func numbered(_ generation: UInt64) -> Self {
        var path = self
        path.generation = generation
        return path
    }
}
