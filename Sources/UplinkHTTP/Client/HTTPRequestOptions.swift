// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// What one request does differently from its client's configuration.
public struct HTTPRequestOptions: Sendable {
    /// In place of the configuration's; `total` covers queue, redirects, retries and body.
    public var timeouts: HTTPTimeouts?
    /// Is told what happens to the request. Each request needs one of its own.
    public var events: HTTPEvents?
    /// In place of the policy of the client's ``HTTPRetry``, and where the client has none, a retry nevertheless. It
    /// stands inside of all middlewares then. ``HTTPRetryPolicy/never`` switches retries off.
    public var retry: HTTPRetryPolicy?
    /// Whether sending the request twice does no more than sending it once. Nil goes by the method (RFC 9110, section
    /// 9.2.2): true for GET, HEAD, OPTIONS, TRACE, PUT and DELETE, not for POST and PATCH.
    ///
    /// A request that is not idempotent is never repeated in silence; it goes out on a connection of its own rather
    /// than on one that may have died.
    public var isIdempotent: Bool?
    /// Fields of this request that are secret like `Authorization`, beside the configuration's: never logged, never
    /// redirected to another origin.
    public var sensitiveFields: [HTTPField.Name]
    /// Told what happens, from any thread; must not block.
    package var observer: (@Sendable (HTTPEvent) -> Void)?

    /// Sets the options; those left out make no difference.
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
