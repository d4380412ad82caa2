// SPDX-License-Identifier: Apache-2.0

/// How often, and how soon, a request is sent again.
public struct HTTPRetryPolicy: Sendable {
    /// The most times a request may be sent, including the first.
    public var maximumAttempts = 3
    /// The longest pause after the first attempt; it doubles with each one. The actual pause is chosen at random
    /// between zero and that ("full jitter"), so that many clients that failed together do not come back together.
    public var initialPause = Duration.milliseconds(250)
    /// The limit of the doubling.
    public var maximumPause = Duration.seconds(10)
    /// The longest wait that a server may ask for with `Retry-After`. If it asks for more, its response is returned.
    public var maximumRetryAfter = Duration.seconds(60)
    /// The statuses that cause another attempt: 408, 425, 429, 502, 503 and 504. 500 is not among them, because it says
    /// nothing about the next time.
    public var statuses: Set<Int> = [408, 425, 429, 502, 503, 504]
    /// Returns a random number from 0 up to, but not including, 1, which scales the pause.
    public var random: @Sendable () -> Double = { .random(in: 0..<1) }

    /// The default policy.
    public init() {}

    /// A policy that sends every request once.
    public static let never: Self = {
        var policy = Self()
        policy.maximumAttempts = 1
        return policy
    }()

    /// - Throws: ``HTTPClientError`` when a setting makes no sense.
    func validate() throws(HTTPClientError) {
        let durations = [
            ("initialPause", initialPause), ("maximumPause", maximumPause), ("maximumRetryAfter", maximumRetryAfter),
        ]
        for (name, duration) in durations where duration < .zero {
            throw invalid("`\(name)` is negative (\(duration)); give zero or more")
        }
        guard maximumAttempts < 1 else { return }
        throw invalid("`maximumAttempts` is \(maximumAttempts); give 1 or more")
    }

    private func invalid(_ message: String) -> HTTPClientError {
        HTTPClientError(.invalidConfiguration, phase: .request, message: "the retry policy's \(message)")
    }
}
