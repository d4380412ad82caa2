// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// A checked request: `http` or `https`, with a method and fields that may be sent.
public struct HTTPTransportRequest: Sendable {
    private struct Parts {
        var method: HTTPRequest.Method
        var fields: RequestFields
        var place: Place
        var body: HTTPRequestBody
        var timeouts: HTTPTimeouts
        var limits: HTTPLimits
        var isIdempotent: Bool?
        var observer: (@Sendable (HTTPEvent) -> Void)?
    }

    /// Only middlewares and custom transports need an `HTTPRequest`, so it is made on demand.
    private enum Place {
        case checked(HTTPURL)
        /// The head as it was set; `method` and `fields` are taken from it.
        case given(HTTPRequest)
    }

    /// A request is copied often on its way, and hardly ever changed.
    private var parts: Shared<Parts>

    /// Method, scheme, authority, path and fields.
    public var head: HTTPRequest {
        get {
            switch parts.value.place {
            case .checked(let url): HTTPRequest(method: method, url: url, headerFields: headerFields)
            case .given(let request): request
            }
        }
        set {
            let old = parts.value
            self = Self(
                head: newValue, body: old.body, timeouts: old.timeouts, limits: old.limits,
                isIdempotent: old.isIdempotent, observer: old.observer)
        }
    }
    /// The URL that scheme, authority and path form, without a fragment: `https://example.org/`.
    public var url: String {
        switch parts.value.place {
        case .checked(let url): url.textWithoutFragment
        case .given(let request): request.uncheckedURL
        }
    }
    /// The request's body.
    public var body: HTTPRequestBody {
        get { parts.value.body }
        set { parts.value.body = newValue }
    }
    /// The timeouts. `total` is the time left of it.
    public var timeouts: HTTPTimeouts {
        get { parts.value.timeouts }
        set { parts.value.timeouts = newValue }
    }
    /// Limits on what the server may make the client hold.
    public var limits: HTTPLimits {
        get { parts.value.limits }
        set { parts.value.limits = newValue }
    }
    /// Whether it may be sent twice; nil goes by the method (RFC 9110, section 9.2.2).
    public var isIdempotent: Bool? {
        get { parts.value.isIdempotent }
        set { parts.value.isIdempotent = newValue }
    }
    /// Receives what happens, outside all locks and C frames; it must not block. A transport that has nothing to report
    /// may ignore it. One that reports anything also reports an end, before the task that waits for the head or the
    /// body learns of it.
    public var observer: (@Sendable (HTTPEvent) -> Void)? {
        get { parts.value.observer }
        set { parts.value.observer = newValue }
    }

    /// Makes a request, which is not checked; for tests of transports.
    public init(
        head: HTTPRequest, body: HTTPRequestBody = .none, timeouts: HTTPTimeouts = .init(),
        limits: HTTPLimits = .init(), isIdempotent: Bool? = nil, observer: (@Sendable (HTTPEvent) -> Void)? = nil
    ) {
        parts = Shared(
            Parts(
                method: head.method, fields: RequestFields(head.headerFields), place: .given(head), body: body,
                timeouts: timeouts,
                limits: limits, isIdempotent: isIdempotent, observer: observer))
    }

    init(
        _ method: HTTPRequest.Method, _ url: HTTPURL, _ fields: RequestFields, body: HTTPRequestBody,
        timeouts: HTTPTimeouts, limits: HTTPLimits, isIdempotent: Bool?
    ) {
        parts = Shared(
            Parts(
                method: method, fields: fields, place: .checked(url), body: body, timeouts: timeouts,
                limits: limits, isIdempotent: isIdempotent, observer: nil))
    }

    /// The head's method.
    package var method: HTTPRequest.Method { parts.value.method }
    /// The head's fields.
    package var headerFields: HTTPFields { parts.value.fields.all }
    /// The same, as an object that other requests may share.
    package var fields: RequestFields { parts.value.fields }

    /// Returns the URL of the request.
    ///
    /// - Throws: ``HTTPClientError`` when the head does not form a URL.
    package func checkedURL() throws(HTTPClientError) -> HTTPURL {
        switch parts.value.place {
        case .checked(let url): url
        case .given(let request): try request.checkedURL()
        }
    }
}

extension HTTPTransportRequest {
    /// Whether sending it twice has the same effect as sending it once: as the caller says, or by the method.
    var mayBeSentTwice: Bool { isIdempotent ?? method.isIdempotent }

    /// Whether a transport may send it again by itself when a connection dies before any response.
    package var mayBeRepeated: Bool { mayBeSentTwice && body.isReplayable }
}
