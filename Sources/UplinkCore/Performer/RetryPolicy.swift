// SPDX-License-Identifier: Apache-2.0

/// How often, and how soon, an operation is run again that failed because of the network.
public struct RetryPolicy: Sendable {
    /// How often the operation may run in all, the first time included. Less than one is an error of the call.
    public var maximumAttempts: Int
    /// The pause after the first attempt; it doubles with each one.
    public var initialPause: Duration
    /// The longest pause.
    public var maximumPause: Duration
    /// Whether an error that the operation threw by itself is the network's doing.
    public var isNetworkFailure: @Sendable (any Error) -> Bool
    /// Gives a number from 0 up to 1, by which a pause is chosen between its half and its whole, so that many who lost
    /// the network together do not come back together.
    public var random: @Sendable () -> Double

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - maximumAttempts: How often the operation may run in all.
    ///   - initialPause: The pause after the first attempt; it doubles with each one. Negative is zero.
    ///   - maximumPause: The longest pause. Negative is zero.
    ///   - isNetworkFailure: By default errors that say so themselves: ``NetworkFailure/isNetworkFailure``.
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

    /// The pause after so many attempts, in nanoseconds.
    func pause(after attempts: Int) -> Int64 {
        var pause = max(0, initialPause.nanosecondsRoundedUp)
        let most = max(0, maximumPause.nanosecondsRoundedUp)
        var doublings = max(0, attempts - 1)
        while doublings > 0, pause > 0, pause < most {
            let (double, isTooLarge) = pause.multipliedReportingOverflow(by: 2)
            pause = isTooLarge ? .max : double
            doublings -= 1
        }
        pause = min(pause, most)
        let half = pause / 2
        let random = random()
        let share = random.isNaN ? 1 : min(max(random, 0), 1)
        return pause - half + min(half, Int64(Double(half) * share))
    }
}
