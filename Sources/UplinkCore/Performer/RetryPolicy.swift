// SPDX-License-Identifier: Apache-2.0

/// How often, and how soon, an operation that failed because of the network is run again.
public struct RetryPolicy: Sendable {
    /// The most runs of the operation, including the first. Less than one makes the call fail.
    public var maximumAttempts: Int
    /// The pause after the first attempt; it doubles with each one.
    public var initialPause: Duration
    /// The longest pause.
    public var maximumPause: Duration
    /// Whether the network is to blame for an error that the operation threw by itself.
    public var isNetworkFailure: @Sendable (any Error) -> Bool
    /// Returns a number from 0 up to 1 that chooses a pause between half of its length and all of it, so that many
    /// programs that lost the network together do not come back together.
    public var random: @Sendable () -> Double

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - maximumAttempts: The most runs of the operation, including the first.
    ///   - initialPause: The pause after the first attempt; it doubles with each one. Negative counts as zero.
    ///   - maximumPause: The longest pause. Negative counts as zero.
    ///   - isNetworkFailure: By default, errors that say so themselves: ``NetworkFailure/isNetworkFailure``.
    ///   - random: By default the system's random number generator.
    public init(
        maximumAttempts: Int = 5, initialPause: Duration = .milliseconds(500), maximumPause: Duration = .seconds(30),
        isNetworkFailure: @escaping @Sendable (any Error) -> Bool = {
            ($0 as? any NetworkFailure)?.isNetworkFailure ?? false
        },
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.maximumAttempts = maximumAttempts
        self.initialPause = initialPause
        self.maximumPause = maximumPause
        self.isNetworkFailure = isNetworkFailure
        self.random = random
    }

    /// The pause after this many attempts, in nanoseconds.
    func pause(after attempts: Int) -> Int64 {
        ExponentialBackoff(initial: initialPause, maximum: maximumPause, jitter: 0.5)
            .pause(after: attempts, chance: random()).nanosecondsRoundedUp
    }
}
