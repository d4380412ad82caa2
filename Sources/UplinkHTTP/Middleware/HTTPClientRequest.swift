// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
import UplinkCore

/// A request on its way through the middlewares.
public struct HTTPClientRequest: Sendable {
    /// Receives an event, with the number of its exchange.
    typealias Observer = @Sendable (HTTPEvent, UInt64) -> Void

    /// Method, scheme, authority, path and fields. Checked again before it is sent.
    public var head: HTTPRequest {
        get { outgoing.head }
        set { outgoing.head = newValue }
    }
    /// The URL that scheme, authority and path form, without a fragment; not redacted, so it may hold secrets in its
    /// query.
    public var url: String { outgoing.url }
    /// The request's body. Setting it also sets its `Content-Type`, in place of the old body's; one that the fields
    /// name themselves is kept.
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
    /// The timeouts; checked again before the request is sent. The client enforces `total` as a whole, whatever is set
    /// here. Work of a middleware's own is ended by it only in ``withinTotal(_:)``.
    public var timeouts: HTTPTimeouts {
        get { outgoing.timeouts }
        set { outgoing.timeouts = newValue }
    }
    /// The caller's options.
    public var options: HTTPRequestOptions { call.options }
    /// The URLs that redirected here, in order; redacted.
    public var redirects: [String] { history.map(\.redacted) }
    /// The number of this attempt, from one; set by ``HTTPRetry``.
    public internal(set) var attempt = 1
    /// The sum of the pauses before this attempt.
    public internal(set) var waited = Duration.zero

    private(set) var outgoing: HTTPTransportRequest
    let history: [HTTPURL]
    let call: HTTPCall
    private(set) var observers: [Observer] = []

    init(_ outgoing: HTTPTransportRequest, redirects history: [HTTPURL], _ call: HTTPCall) {
        (self.outgoing, self.history, self.call) = (outgoing, history, call)
    }

    /// The number of the call that this request belongs to, shared by its redirects and attempts; unique in the
    /// process.
    public var id: UInt64 { call.id }

    /// Whether sending it twice has the same effect as sending it once: as the caller says, or by the method.
    public var isIdempotent: Bool { outgoing.mayBeSentTwice }

    /// The secret fields: `Authorization`, `Proxy-Authorization`, `Cookie`, `Set-Cookie`, and those that the
    /// configuration or the options name.
    public var sensitiveFields: Set<HTTPField.Name> {
        Set([.authorization, .proxyAuthorization, .cookie, .setCookie])
            .union(call.settings.configuration.sensitiveFields).union(options.sensitiveFields)
    }

    /// The time left of the total timeout; nil without one.
    public var remainingTime: Duration? { call.remaining }

    /// Runs work that waits for something other than `next`, and cancels it when the total timeout passes. (`next`
    /// keeps to the total by itself.)
    ///
    /// - Throws: ``HTTPClientError`` with ``HTTPClientError/Code/totalTimeout`` once the work has ended after its
    ///   cancellation, or the error of the work.
    public func withinTotal<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let remaining = call.remaining else { return try await work() }
        guard remaining > .zero else { throw call.totalPassed }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask { [clock = call.clock] in
                try await clock.sleep(for: remaining)
                return nil
            }
            defer { group.cancelAll() }
            guard case .some(.some(let value)) = try await group.next() else { throw call.totalPassed }
            return value
        }
    }

    /// Reports to `observer` what happens to the request from here on: exactly one end for each exchange, even if the
    /// transport reports nothing. Called on any thread; it must not block.
    public mutating func observe(_ observer: @escaping @Sendable (HTTPEvent) -> Void) {
        observers.append { event, _ in observer(event) }
    }

    /// The same, with the exchange's number, which increases within the call.
    mutating func observeExchanges(_ observer: @escaping Observer) {
        observers.append(observer)
    }
}

extension HTTPClientError {
    /// There is no time left to send the request.
    static let totalPassed = HTTPClientError(
        .totalTimeout, phase: .request,
        message: "the total timeout has passed before the request could be sent; allow more")
}
