// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes

/// Sends a request again that failed for a reason which may pass, where that can do nothing twice.
///
/// What was certainly not sent (``HTTPClientError/RequestDisposition/notSent``) is sent again whatever its method; what
/// the server may have processed only when it is idempotent (RFC 9110, section 9.2.2, or what the options say). So a
/// POST is never sent a second time after its first byte went out, unless the caller allows it. A body that is
/// spent and not ``HTTPRequestBody/isReplayable`` is not sent again. Of errors, those of the network count
/// (``HTTPClientError/isNetworkFailure``), never those of TLS certificates; of answers, the policy's statuses. Nothing is
/// sent again once an answer was given to the caller, so that nobody sees a body twice.
///
/// `Retry-After` is honoured, in seconds and as a date (RFC 9110, section 10.2.3); other pauses grow exponentially with
/// full jitter. A pause that the total timeout would cut short is not made: the caller gets what there is at once.
/// Attempts are counted for each URL of a chain of redirects. ``HTTPEvent/retrying(attempt:after:because:)`` tells of
/// each, ``HTTPClientError/attempts`` of all.
public struct HTTPRetry: HTTPMiddleware {
    private let policy: HTTPRetryPolicy
    private let wallClock: @Sendable () -> Int64

    /// Makes the middleware.
    ///
    /// - Parameter policy: How often and how soon; ``HTTPRequestOptions/retry`` stands above it. One that makes no sense
    ///   is an error of the request.
    public init(_ policy: HTTPRetryPolicy = .init()) { self.init(policy) { Int64(time(nil)) } }

    /// - Parameter wallClock: Seconds since 1970, for dates in answers that bear none themselves.
    init(_ policy: HTTPRetryPolicy, wallClock: @escaping @Sendable () -> Int64) {
        self.policy = policy
        self.wallClock = wallClock
    }

    /// Sends the request, and again while the policy says so.
    public func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        let policy = request.options.retry ?? policy
        try policy.validate()
        var machine = RetryMachine(policy, isIdempotent: request.isIdempotent)
        var request = request
        while true {
            request.attempt = machine.attempts
            request.waited = machine.waited
            let pause: Duration
            let reason: String
            do {
                let response = try await next(request)
                let status = response.head.status.code
                let outcome = RetryMachine.Outcome.answer(
                    status: status, retryAfter: RetryAfter.pause(askedBy: response.head, now: wallClock))
                switch machine.ended(
                    outcome, hasBody: !request.body.isSpent, remaining: request.remainingTime, random: policy.random()
                ) {
                case .settle: return response
                case .retry(let after): (pause, reason) = (after, "\(status)")
                }
                await response.body.discardIfShort()
            } catch let error as HTTPClientError {
                let outcome = RetryMachine.Outcome.failure(
                    isNetworkFailure: error.isNetworkFailure, error.requestDisposition)
                switch machine.ended(
                    outcome, hasBody: !request.body.isSpent, remaining: request.remainingTime, random: policy.random()
                ) {
                case .settle: throw error.following(machine.disposition)
                case .retry(let after): (pause, reason) = (after, error.shortDescription)
                }
            }
            request.call.tell(.retrying(attempt: machine.attempts + 1, after: pause, because: reason))
            try await request.call.clock.sleep(pause)
            machine.paused()
        }
    }
}

extension HTTPMiddleware where Self == HTTPRetry {
    /// Sends a request again that failed for a reason which may pass; see ``HTTPRetry``.
    public static func retry(_ policy: HTTPRetryPolicy = .init()) -> Self { HTTPRetry(policy) }
}
