// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// When a path is given to the subscribers: the monitor's state machine for time.
///
/// The first change is given at once; the next one waits until the minimum interval has passed since, and is then the
/// newest. The wait is never prolonged by further changes, so that a flapping network is still reported.
struct PathEmission {
    typealias Instant = SuspendingClock.Instant

    /// What the subscribers have heard.
    enum State: Equatable {
        /// Nothing yet.
        case silent
        /// The newest path, at this time.
        case told(PathKey, at: Instant)
        /// An older path, at this time; a newer one waits for the interval's end.
        case holding(NetworkPath, told: PathKey, at: Instant)
    }

    /// What is to be done.
    enum Action: Equatable {
        /// Nothing.
        case none
        /// Give this path to the subscribers.
        case emit(NetworkPath)
        /// Call `timerFired` after this long.
        case wait(Duration)
    }

    let minimumInterval: Duration
    private(set) var state = State.silent
    /// Rises with every change that was seen, also with one that was over before it could be told.
    private(set) var generation: UInt64 = 0
    /// Changes that were not told because another followed within the interval.
    private(set) var suppressed: UInt64 = 0

    init(minimumInterval: Duration) { self.minimumInterval = minimumInterval }

    /// Takes the path as it is now.
    mutating func evaluated(_ path: NetworkPath, at now: Instant) -> Action {
        let key = PathKey(path)
        switch state {
        case .silent:
            return emit(path, key, at: now)
        case .told(let told, let instant):
            if key == told { return .none }
            if instant.duration(to: now) >= minimumInterval { return emit(path, key, at: now) }
            return hold(path, told: told, at: instant, now)
        case .holding(let held, let told, let instant):
            if key == PathKey(held) {
                state = .holding(path.numbered(held.generation), told: told, at: instant)
                return .none
            }
            suppressed += 1
            if key == told {
                generation += 1
                state = .told(told, at: instant)
                return .none
            }
            return hold(path, told: told, at: instant, now)
        }
    }

    /// Tells what has been held back, if the interval is over.
    mutating func timerFired(at now: Instant) -> Action {
        switch state {
        case .silent, .told: return .none
        case .holding(let path, _, let instant):
            let remaining = minimumInterval - instant.duration(to: now)
            if remaining > .zero { return .wait(remaining) }
            state = .told(PathKey(path), at: now)
            return .emit(path)
        }
    }

    /// Forgets what was told, because nobody listens any more. The generation goes on.
    mutating func restart() { state = .silent }

    private mutating func emit(_ path: NetworkPath, _ key: PathKey, at now: Instant) -> Action {
        state = .told(key, at: now)
        return .emit(numbered(path))
    }

    private mutating func hold(_ path: NetworkPath, told: PathKey, at instant: Instant, _ now: Instant) -> Action {
        state = .holding(numbered(path), told: told, at: instant)
        return .wait(minimumInterval - instant.duration(to: now))
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
