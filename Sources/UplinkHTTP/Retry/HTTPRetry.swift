// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes

/// Sends a request again after a transient failure, where this cannot have an effect twice.
///
/// A request that was certainly not sent (``HTTPClientError/RequestDisposition/notSent``) is sent again whatever its
/// method; one that the server may have processed only if it is idempotent (RFC 9110, section 9.2.2, or as the options
/// say). So a POST is never sent a second time after its first byte went out, unless the caller allows it. A body that
/// is spent and not ``HTTPRequestBody/isReplayable`` is not sent again. Retries follow errors of the network
/// (``HTTPClientError/isNetworkFailure``), never errors of TLS certificates, and responses with one of the policy's
/// statuses. Nothing is sent again once the caller has been given a response, so that nobody sees a body twice.
///
/// `Retry-After` is honoured, in seconds and as a date (RFC 9110, section 10.2.3); other pauses grow exponentially with
/// full jitter. If the total timeout would cut a pause short, there is no pause: the caller immediately gets the result
/// so far. Attempts are counted for each URL of a chain of redirects. ``HTTPEvent/retrying(attempt:after:because:)``
/// reports each of them, ``HTTPClientError/attempts`` their number.
public struct HTTPRetry: HTTPMiddleware {
    private let policy: HTTPRetryPolicy
    private let wallClock: @Sendable () -> Int64

    /// Makes the middleware.
    ///
    /// - Parameter policy: How often and how soon; ``HTTPRequestOptions/retry`` takes precedence. An invalid policy is
    ///   an error of the request.
    public init(_ policy: HTTPRetryPolicy = .init()) { self.init(policy) { Int64(time(nil)) } }

    /// - Parameter wallClock: Seconds since 1970, for dates in responses that have no date of their own.
    init(_ policy: HTTPRetryPolicy, wallClock: @escaping @Sendable () -> Int64) {
        self.policy = policy
        self.wallClock = wallClock
    }

    /// Sends the request, and sends it again while the policy says so.
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
    /// Sends a request again after a transient failure; see ``HTTPRetry``.
    public static func retry(_ policy: HTTPRetryPolicy = .init()) -> Self { HTTPRetry(policy) }
}
