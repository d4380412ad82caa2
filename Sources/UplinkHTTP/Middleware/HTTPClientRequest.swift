// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// A request on its way through the middlewares.
public struct HTTPClientRequest: Sendable {
    /// Method, scheme, authority, path and fields. Checked again before it is sent.
    public var head: HTTPRequest {
        get { outgoing.head }
        set { outgoing.head = newValue }
    }
    /// What goes out after the head. A body that is set brings its `Content-Type` with it, in place of the old body's;
    /// one that the fields name themselves stays.
    public var body: HTTPRequestBody {
        get { outgoing.body }
        set {
            let old = outgoing.body.contentType
            outgoing.body = newValue
            guard newValue.contentType != old else { return }
            let field = outgoing.headerFields[.contentType]
            if field == nil || field == old { head.headerFields[.contentType] = newValue.contentType }
        }
    }
    /// How long the parts may take; checked again before it is sent. The client sees to `total` as a whole, whatever
    /// stands here.
    public var timeouts: HTTPTimeouts {
        get { outgoing.timeouts }
        set { outgoing.timeouts = newValue }
    }
    /// What the caller asked for.
    public var options: HTTPRequestOptions { call.options }
    /// The URLs that redirected here, in order; redacted.
    public var redirects: [String] { history.map(\.redacted) }
    /// Which attempt this is, from one; set by ``HTTPRetry``.
    public internal(set) var attempt = 1
    /// The pauses before this attempt, taken together.
    public internal(set) var waited = Duration.zero

    private(set) var outgoing: HTTPTransportRequest
    let history: [HTTPURL]
    let call: HTTPCall
    private(set) var observers: [@Sendable (HTTPEvent, UInt64) -> Void] = []

    init(_ outgoing: HTTPTransportRequest, redirects history: [HTTPURL], _ call: HTTPCall) {
        (self.outgoing, self.history, self.call) = (outgoing, history, call)
    }

    /// The number of the call that this request belongs to, with its redirects and attempts; no other call of the
    /// process has it.
    public var id: UInt64 { call.id }

    /// Whether sending it twice does no more than sending it once: what the caller says, or the method.
    public var isIdempotent: Bool { outgoing.mayBeSentTwice }

    /// Fields that are secret: `Authorization`, `Proxy-Authorization`, `Cookie`, `Set-Cookie`, and those that the
    /// configuration or the options name.
    public var sensitiveFields: Set<HTTPField.Name> {
        Set([.authorization, .proxyAuthorization, .cookie, .setCookie])
            .union(call.settings.configuration.sensitiveFields).union(options.sensitiveFields)
    }

    /// What is left of the total timeout; nil without one.
    public var remainingTime: Duration? { call.remaining }

    /// Runs what waits for something else than `next`, and cancels it when the total timeout passes: `next` sees to the
    /// total by itself.
    ///
    /// - Throws: ``HTTPClientError`` with ``HTTPClientError/Code/totalTimeout`` once the work has ended after its
    ///   cancellation, or what it throws.
    public func withinTotal<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let remaining = call.remaining else { return try await work() }
        guard remaining > .zero else { throw HTTPClientError.totalPassed }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask { [clock = call.clock] in
                try await clock.sleep(remaining)
                return nil
            }
            defer { group.cancelAll() }
            guard case .some(.some(let value)) = try await group.next() else { throw HTTPClientError.totalPassed }
            return value
        }
    }

    /// Tells `observer` what happens to the request as it is sent on from here: for each exchange one end at least and
    /// at most, even when the transport tells nothing. From any thread; it must not block.
    public mutating func observe(_ observer: @escaping @Sendable (HTTPEvent) -> Void) {
        observers.append { event, _ in observer(event) }
    }

    /// The same, with the exchange's number, which grows within the call.
    mutating func observeExchanges(_ observer: @escaping @Sendable (HTTPEvent, UInt64) -> Void) {
        observers.append(observer)
    }
}

extension HTTPClientError {
    /// There is no time left to send the request.
    static let totalPassed = HTTPClientError(
        .totalTimeout, phase: .request,
        message: "the total timeout has passed before the request could be sent; allow more")
}
