// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// Options of one request, which take precedence over its client's configuration.
public struct HTTPRequestOptions: Sendable {
    /// Replaces the configuration's timeouts; `total` covers queue, redirects, retries and body.
    public var timeouts: HTTPTimeouts?
    /// Receives what happens to the request. Each request needs its own.
    public var events: HTTPEvents?
    /// Replaces the policy of the client's ``HTTPRetry``. If the client has none, the request is retried with this
    /// policy, inside all middlewares. ``HTTPRetryPolicy/never`` switches retries off.
    public var retry: HTTPRetryPolicy?
    /// Whether sending the request twice has the same effect as sending it once. Nil goes by the method (RFC 9110,
    /// section 9.2.2): true for GET, HEAD, OPTIONS, TRACE, PUT and DELETE, not for POST and PATCH.
    ///
    /// A request that is not idempotent is never silently repeated; it goes out on a new connection rather than on one
    /// that may have died.
    public var isIdempotent: Bool?
    /// Fields of this request that are as secret as `Authorization`, in addition to the configuration's: never logged,
    /// never redirected to another origin.
    public var sensitiveFields: [HTTPField.Name]
    /// Receives what happens, on any thread; must not block.
    package var observer: (@Sendable (HTTPEvent) -> Void)?

    /// Sets the options. Parameters left out keep the client's setting.
    public init(
        timeouts: HTTPTimeouts? = nil, events: HTTPEvents? = nil, retry: HTTPRetryPolicy? = nil,
        isIdempotent: Bool? = nil, sensitiveFields: [HTTPField.Name] = []
    ) {
        self.timeouts = timeouts
        self.events = events
        self.retry = retry
        self.isIdempotent = isIdempotent
        self.sensitiveFields = sensitiveFields
    }
}
