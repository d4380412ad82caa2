// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Decides whether and when a request is sent again: pure; time and chance are given.
struct RetryMachine: Sendable {
    /// The state of the request.
    enum Phase: Sendable, Equatable {
        /// It is being sent.
        case attempting
        /// It is waiting to be sent again.
        case pausing
        /// Its outcome is what the caller gets.
        case settled
    }

    /// How an attempt ended.
    enum Outcome: Sendable {
        /// With a response that the caller has not seen any of yet.
        case answer(status: Int, retryAfter: Duration?)
        /// With an error before the head of a response.
        case failure(isNetworkFailure: Bool, HTTPClientError.RequestDisposition)
    }

    /// What to do.
    enum Action: Sendable, Equatable {
        /// Give the caller the outcome.
        case settle
        /// Pause this long, then send the request again.
        case retry(after: Duration)
    }

    private let policy: HTTPRetryPolicy
    private let isIdempotent: Bool
    private(set) var phase = Phase.attempting
    /// Attempts so far, including this one.
    private(set) var attempts = 1
    /// All pauses so far.
    private(set) var waited = Duration.zero

    init(_ policy: HTTPRetryPolicy, isIdempotent: Bool) {
        self.policy = policy
        self.isIdempotent = isIdempotent
    }

    /// An attempt has ended.
    ///
    /// - Parameters:
    ///   - hasBody: Whether the request's body can be sent again, or sending it has not begun.
    ///   - remaining: The time left of the total timeout. A pause that would use it up is pointless.
    ///   - random: From 0 up to 1.
    mutating func ended(_ outcome: Outcome, hasBody: Bool, remaining: Duration?, random: Double) -> Action {
        switch phase {
        case .attempting: break
        case .pausing, .settled: return .settle
        }
        guard attempts < policy.maximumAttempts, hasBody, mayRepeat(after: outcome),
            let pause = pause(after: outcome, random: random), pause < remaining ?? .seconds(Int64.max)
        else {
            phase = .settled
            return .settle
        }
        phase = .pausing
        waited += pause
        return .retry(after: pause)
    }

    /// The pause is over.
    mutating func paused() {
        switch phase {
        case .pausing:
            phase = .attempting
            attempts += 1
        case .attempting, .settled: break
        }
    }

    /// Whether sending it again can help, and cannot have an effect twice.
    private func mayRepeat(after outcome: Outcome) -> Bool {
        switch outcome {
        case .answer(let status, _): return isIdempotent && policy.statuses.contains(status)
        case .failure(let isNetworkFailure, .notSent): return isNetworkFailure
        case .failure(let isNetworkFailure, .maybeProcessed), .failure(let isNetworkFailure, .responseStarted):
            return isNetworkFailure && isIdempotent
        }
    }

    /// Returns the pause; nil when the server wants to be left alone for longer than the policy allows.
    private func pause(after outcome: Outcome, random: Double) -> Duration? {
        switch outcome {
        case .answer(_, .some(let wanted)):
            return wanted <= policy.maximumRetryAfter ? max(wanted.clamped, .zero) : nil
        case .answer(_, .none), .failure:
            return ExponentialBackoff(initial: policy.initialPause, maximum: policy.maximumPause, jitter: 1)
                .pause(after: attempts, chance: random)
        }
    }
}
