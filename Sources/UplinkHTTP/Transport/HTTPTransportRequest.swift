// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// A request that has been checked: `http` or `https`, a method and fields that may be sent.
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

    /// Nobody but a middleware or a foreign transport needs an `HTTPRequest`, so it is made for those who ask.
    private enum Place {
        case checked(HTTPURL)
        /// The head as it was set; `method` and `fields` are its own.
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
    /// What goes out after the head.
    public var body: HTTPRequestBody {
        get { parts.value.body }
        set { parts.value.body = newValue }
    }
    /// How long the parts may take. `total` is what is left of it.
    public var timeouts: HTTPTimeouts {
        get { parts.value.timeouts }
        set { parts.value.timeouts = newValue }
    }
    /// What the server may make us hold.
    public var limits: HTTPLimits {
        get { parts.value.limits }
        set { parts.value.limits = newValue }
    }
    /// Whether it may be sent twice; nil goes by the method (RFC 9110, section 9.2.2).
    public var isIdempotent: Bool? {
        get { parts.value.isIdempotent }
        set { parts.value.isIdempotent = newValue }
    }
    /// Told what happens, outside of all locks and C frames; it must not block. A transport that knows nothing says
    /// nothing. One that says anything tells an end too, before whoever waits for the head or the body learns of it.
    public var observer: (@Sendable (HTTPEvent) -> Void)? {
        get { parts.value.observer }
        set { parts.value.observer = newValue }
    }

    /// Puts a request together; for tests of transports. It is not checked.
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
    /// The same, as an object that other requests may have too.
    package var fields: RequestFields { parts.value.fields }

    /// Where the request goes.
    ///
    /// - Throws: ``HTTPClientError`` when the head makes no URL.
    package func checkedURL() throws(HTTPClientError) -> HTTPURL {
        switch parts.value.place {
        case .checked(let url): url
        case .given(let request): try request.checkedURL()
        }
    }
}

extension HTTPTransportRequest {
    /// Whether sending it twice does no more than sending it once: what the caller says, or the method.
    var mayBeSentTwice: Bool { isIdempotent ?? method.isIdempotent }

    /// Whether a transport may send it again by itself when a connection dies before any answer.
    package var mayBeRepeated: Bool { mayBeSentTwice && body.isReplayable }
}
