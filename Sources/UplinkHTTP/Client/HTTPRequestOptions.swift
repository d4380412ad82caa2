// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// Options of one request, which take precedence over its client's configuration.
public struct HTTPRequestOptions: Sendable {
    private struct Parts {
        var timeouts: HTTPTimeouts?
        var events: HTTPEvents?
        var retry: HTTPRetryPolicy?
        var isIdempotent: Bool?
        var sensitiveFields: [HTTPField.Name] = []
        var observer: (@Sendable (HTTPEvent) -> Void)?
    }

    /// Nil if nothing is set. Kept small, because code that awaits a response holds its options meanwhile.
    private var parts: Shared<Parts>?

    private var given: Parts {
        get { parts?.value ?? Parts() }
        set { parts = Shared(newValue) }
    }

    /// Replaces the configuration's timeouts; `total` covers queue, redirects, retries and body.
    public var timeouts: HTTPTimeouts? {
        get { parts?.value.timeouts }
        set { given.timeouts = newValue }
    }
    /// Receives what happens to the request. Each request needs its own.
    public var events: HTTPEvents? {
        get { parts?.value.events }
        set { given.events = newValue }
    }
    /// Replaces the policy of the client's ``HTTPRetry``. If the client has none, the request is retried with this
    /// policy, inside all middlewares. ``HTTPRetryPolicy/never`` switches retries off.
    public var retry: HTTPRetryPolicy? {
        get { parts?.value.retry }
        set { given.retry = newValue }
    }
    /// Whether sending the request twice has the same effect as sending it once. Nil goes by the method (RFC 9110,
    /// section 9.2.2): true for GET, HEAD, OPTIONS, TRACE, PUT and DELETE, not for POST and PATCH.
    ///
    /// A request that is not idempotent is never silently repeated; it goes out on a new connection rather than on one
    /// that may have died.
    public var isIdempotent: Bool? {
        get { parts?.value.isIdempotent }
        set { given.isIdempotent = newValue }
    }
    /// Fields of this request that are as secret as `Authorization`, in addition to the configuration's: never logged,
    /// never redirected to another origin.
    public var sensitiveFields: [HTTPField.Name] {
        get { parts?.value.sensitiveFields ?? [] }
        set { given.sensitiveFields = newValue }
    }
    /// Receives what happens, on any thread; must not block.
    package var observer: (@Sendable (HTTPEvent) -> Void)? {
        get { parts?.value.observer }
        set { given.observer = newValue }
    }

    /// Sets the options. Parameters left out keep the client's setting.
    public init(
        timeouts: HTTPTimeouts? = nil, events: HTTPEvents? = nil, retry: HTTPRetryPolicy? = nil,
        isIdempotent: Bool? = nil, sensitiveFields: [HTTPField.Name] = []
    ) {
        let isEmpty = timeouts == nil && events == nil && retry == nil && isIdempotent == nil && sensitiveFields.isEmpty
        guard !isEmpty else { return }
        given = Parts(
            timeouts: timeouts, events: events, retry: retry, isIdempotent: isIdempotent,
            sensitiveFields: sensitiveFields)
    }
}
