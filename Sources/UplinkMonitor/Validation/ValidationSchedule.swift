// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// The state machine of validation: when one family is probed, and what is known about it.
///
/// Probes have numbers that are never reused, so that a late result of a cancelled one is ignored.
struct ValidationSchedule {
    typealias Instant = SuspendingClock.Instant

    /// The current activity.
    enum State: Equatable {
        /// There is no route to probe.
        case idle
        /// The probe of this number is under way, until its time is over.
        case probing(FamilyWay, probe: UInt64, deadline: Instant)
        /// No probe has been under way since this time; the next one begins at `next`, or when something changes.
        case resting(FamilyWay, since: Instant, next: Instant?)
    }

    /// What to do, in this order.
    struct Action: Equatable {
        /// Cancel the probe of this number.
        var cancel: UInt64?
        /// Start a probe and give it this number.
        var start: UInt64?
        /// Call `timerFired` after this long; nil disarms the timer.
        var wait: Duration?
    }

    /// The shortest time between two probes that are not due by themselves: from the end of one to a report of a bad
    /// network that is heeded, and from the start of one to that for another route, because a route may flap.
    private static let pause = Duration.seconds(1)

    private let timeout: Duration
    private let backoff: ExponentialBackoff
    private let interval: Duration?
    private(set) var state = State.idle
    /// What is known about the route: disabled if there is none, probing until the first probe has ended.
    private(set) var verdict = PathValidation.disabled
    private var failures = 0
    private var lastProbe: UInt64
    private var lastStart: Instant?

    /// - Parameter last: Probes up to this number belong to earlier schedules, and may still end.
    init(_ validator: PathValidator, after last: UInt64 = 0) {
        lastProbe = last
        timeout = validator.timeout
        backoff = ExponentialBackoff(initial: validator.firstPause, maximum: validator.longestPause, jitter: 0)
        interval = validator.interval
    }

    /// Processes the family's current route; nil if there is none.
    mutating func wayIs(_ way: FamilyWay?, at now: Instant) -> Action {
        guard let way else { return end() }
        switch state {
        case .idle: return begin(way, at: now)
        case .probing(way, _, _), .resting(way, _, _): return Action(wait: timeToNext(now))
        case .probing, .resting: return begin(way, at: now)
        }
    }

    /// Starts again, because the system has slept.
    mutating func restart(at now: Instant) -> Action {
        switch state {
        case .idle: Action()
        case .probing(let way, _, _), .resting(let way, _, _): begin(way, at: now)
        }
    }

    /// Probes soon, because somebody found the network bad. What is known stays until the probe has ended.
    mutating func report(at now: Instant) -> Action {
        switch state {
        case .idle, .probing: return Action(wait: timeToNext(now))
        case .resting(let way, let since, let next):
            let earliest = since + Self.pause
            if earliest <= now { return start(way, at: now) }
            state = .resting(way, since: since, next: min(next ?? earliest, earliest))
            return Action(wait: timeToNext(now))
        }
    }

    /// Processes the result of a probe; ignored if the probe was cancelled.
    mutating func probeEnded(_ probe: UInt64, _ found: PathValidation, at now: Instant) -> Action {
        guard case .probing(let way, probe, _) = state else { return Action(wait: timeToNext(now)) }
        return rest(way, found, at: now)
    }

    /// Starts the probe that is due, or ends the one that took too long.
    mutating func timerFired(at now: Instant) -> Action {
        switch state {
        case .idle: return Action()
        case .probing(let way, let probe, let deadline):
            guard deadline <= now else { return Action(wait: timeToNext(now)) }
            var action = rest(way, .failed("no answer within \(timeout)"), at: now)
            action.cancel = probe
            return action
        case .resting(let way, _, let next):
            guard let next, next <= now else { return Action(wait: timeToNext(now)) }
            return start(way, at: now)
        }
    }

    /// Forgets everything, because the monitor pauses.
    mutating func end() -> Action {
        let running = runningProbe
        (state, verdict, failures) = (.idle, .disabled, 0)
        return Action(cancel: running)
    }

    private mutating func begin(_ way: FamilyWay, at now: Instant) -> Action {
        let running = runningProbe
        (verdict, failures) = (.probing, 0)
        if let earliest = lastStart.map({ $0 + Self.pause }), now < earliest {
            state = .resting(way, since: now, next: earliest)
            return Action(cancel: running, wait: timeToNext(now))
        }
        var action = start(way, at: now)
        action.cancel = running
        return action
    }

    private mutating func start(_ way: FamilyWay, at now: Instant) -> Action {
        lastProbe += 1
        lastStart = now
        state = .probing(way, probe: lastProbe, deadline: now + timeout)
        return Action(start: lastProbe, wait: timeout)
    }

    private mutating func rest(_ way: FamilyWay, _ found: PathValidation, at now: Instant) -> Action {
        switch found {
        case .validated:
            verdict = found
            failures = 0
            state = .resting(way, since: now, next: interval.map { now + $0 })
        case .captivePortal, .failed:
            verdict = found
            state = .resting(way, since: now, next: now + pauseAfterFailure())
        case .disabled, .probing:
            verdict = .failed("the probe did not say what it found")
            state = .resting(way, since: now, next: now + pauseAfterFailure())
        }
        return Action(wait: timeToNext(now))
    }

    private mutating func pauseAfterFailure() -> Duration {
        failures += 1
        return backoff.pause(after: failures)
    }

    private var runningProbe: UInt64? {
        switch state {
        case .idle, .resting: nil
        case .probing(_, let probe, _): probe
        }
    }

    private func timeToNext(_ now: Instant) -> Duration? {
        switch state {
        case .idle: nil
        case .probing(_, _, let deadline): max(.zero, now.duration(to: deadline))
        case .resting(_, _, let next): next.map { max(.zero, now.duration(to: $0)) }
        }
    }
}
