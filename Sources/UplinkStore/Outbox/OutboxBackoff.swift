// SPDX-License-Identifier: Apache-2.0
#if Store
import UplinkCore

/// How long an entry rests after a failed attempt: longer each time, up to a maximum, with some randomness.
public struct OutboxBackoff: Sendable, Hashable {
    /// The pause after the first attempt; also the shortest that a handler can ask for.
    public var initial: Duration
    /// The factor by which the pause grows after each further attempt.
    public var factor: Double
    /// The longest pause, even if a handler asks for a longer one.
    public var maximum: Duration
    /// The random share of the pause, from 0 to 1, so that many devices do not come back at the same moment.
    public var jitter: Double

    /// Creates a back-off.
    public init(
        initial: Duration = .seconds(1), factor: Double = 2, maximum: Duration = .seconds(300), jitter: Double = 0.3
    ) {
        self.initial = initial
        self.factor = factor
        self.maximum = maximum
        self.jitter = jitter
    }

    var isValid: Bool { initial > .zero && maximum >= initial && factor >= 1 && (0...1).contains(jitter) }

    /// The pause after this many failed attempts.
    ///
    /// - Parameter chance: A random number from 0, for the longest pause, to 1, for the shortest.
    func pause(after attempts: Int, chance: Double) -> Duration {
        ExponentialBackoff(initial: initial, factor: factor, maximum: maximum, jitter: jitter)
            .pause(after: attempts, chance: 1 - chance)
    }

    /// The rest of a pause that began at `failedAt`, on a wall clock that may have been set since: never more than the
    /// pause.
    static func remainder(of pause: Double?, since failedAt: Double?, now: Double) -> Duration {
        guard let pause, let failedAt else { return .zero }
        return .limited(seconds: min(max(failedAt + pause - now, 0), pause))
    }
}
#endif
