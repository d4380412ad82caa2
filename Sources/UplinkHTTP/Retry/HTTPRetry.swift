// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import UplinkCore

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
    /// How an attempt ended, unless with an error that is not the client's.
    private typealias Arrival = Result<HTTPTransportResponse, HTTPClientError>

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
            let arrival: Arrival
            do {
                arrival = .success(try await next(request))
            } catch let error as HTTPClientError {
                // What failed may be one more exchange of a middleware's, after one that a server has seen.
                arrival = .failure(error.following(request.call.disposition))
            }
            let (outcome, reason) = report(of: arrival)
            let action = machine.ended(
                outcome, hasBody: !request.body.isSpent, remaining: request.remainingTime, random: policy.random())
            guard case .retry(let pause) = action else { return try arrival.get() }
            request.call.tell(.retrying(attempt: machine.attempts + 1, after: pause, because: reason))
            try await rest(for: pause, dropping: consume arrival, of: request)
            machine.paused()
        }
    }

    private func report(of arrival: Arrival) -> (RetryMachine.Outcome, reason: String) {
        switch arrival {
        case .success(let response):
            let status = response.head.status.code
            let pause = RetryAfter.pause(askedBy: response.head, now: wallClock)
            return (.answer(status: status, retryAfter: pause), "\(status)")
        case .failure(let error):
            let disposition = error.requestDisposition
            return (.failure(isNetworkFailure: error.isNetworkFailure, disposition), error.shortDescription)
        }
    }

    /// Pauses. Reading the rest of a short response is part of the pause, which the total timeout has room for.
    private func rest(
        for pause: Duration, dropping arrival: consuming Arrival, of request: HTTPClientRequest
    ) async throws {
        let clock = request.call.clock
        let start = clock.now()
        if case .success(let response) = consume arrival {
            let longest = HTTPBody.longestDiscarding
            await response.body.discardIfShort(within: request.remainingTime == nil ? longest : min(pause, longest))
        }
        try await clock.sleep(for: max(.zero, pause - (clock.now() - start)))
    }
}

extension HTTPMiddleware where Self == HTTPRetry {
    /// Sends a request again after a transient failure; see ``HTTPRetry``.
    public static func retry(_ policy: HTTPRetryPolicy = .init()) -> Self { HTTPRetry(policy) }
}
