// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// Sends a token with every request to certain origins, and gets a new one when it is refused (Bearer, RFC 6750).
///
/// A request that is answered with 401 is sent once more with a new token, unless its body is spent. This holds for
/// every method, because 401 means that the request was not carried out (RFC 9110, section 15.5.2). However many
/// requests are refused at the same time, the provider is asked once, and all of them wait for its token. If it throws,
/// each of them throws its error, and the next request asks again. A second 401 is returned like any other response. So
/// is the first, if the provider returns the same token again and the refusal was short: at most 16 KiB of it are kept
/// while the provider is asked.
///
/// A request that was redirected from another origin goes without a token, and one that has an `Authorization` field of
/// its own keeps it. Inside ``HTTPRetry``, sending the request again does not count as an attempt.
///
/// The provider's own requests are best made by a second client on the same transport, which needs no token:
///
/// ```swift
/// let plain = HTTPClient(transport: transport)
/// var configuration = HTTPClient.Configuration()
/// configuration.middlewares = [
///     try .bearer(for: ["https://api.example.org"]) { _ in
///         let answer = try await plain.post("https://login.example.org/token", body: .text(secret))
///         return String(decoding: try await answer.body.collect(upTo: 4096), as: UTF8.self)
///     }
/// ]
/// let client = HTTPClient(transport: transport, configuration: configuration)
/// ```
public final class HTTPBearerAuthentication: HTTPMiddleware {
    /// The providers that are being asked by this task: their requests go without their own tokens, instead of waiting
    /// for themselves.
    @TaskLocal private static var asking: [Asking] = []

    /// A provider that is being asked. A task that it starts, and leaves behind, goes on when it no longer is.
    private final class Asking: Sendable {
        let middleware: ObjectIdentifier
        private let hasEnded = Locked(false)

        init(_ middleware: HTTPBearerAuthentication) { self.middleware = ObjectIdentifier(middleware) }

        var goesOn: Bool { !hasEnded.withLock { $0 } }

        func end() { hasEnded.withLock { $0 = true } }
    }

    /// Whether a provider of any instance is being asked by this task.
    static var isAsking: Bool { asking.contains(where: \.goesOn) }

    private var isAsking: Bool {
        Self.asking.contains { $0.middleware == ObjectIdentifier(self) && $0.goesOn }
    }

    private let scope: CredentialScope
    private let provider: @Sendable (String?) async throws -> String
    private let tokens = Locked(TokenMachine())
    private let requests = SharedWork<String?, String?>()

    /// The number of requests waiting for a token; for tests.
    var waiting: Int { requests.waiting }

    /// Makes the middleware.
    ///
    /// - Parameters:
    ///   - origins: The origins that the token is for: scheme, host and port, such as `https://example.org`. With
    ///     `http`, everybody on the way can read it (RFC 6750, section 5.3).
    ///   - provider: Returns a token. It gets nil the first time, later the token that was refused. For one token it
    ///     never runs twice at the same time, unless the first run is cancelled because nobody waits for it any more,
    ///     or the provider of another such middleware needs the token for a request of its own. It may use the client
    ///     itself, in its own task or a child of that: until it returns, such requests go without this token. Those of
    ///     a detached task would wait for the token, and so for themselves.
    /// - Throws: ``HTTPClientError`` when a text is not an origin.
    public init(
        for origins: [String], token provider: @escaping @Sendable (_ refused: String?) async throws -> String
    ) throws(HTTPClientError) {
        scope = try CredentialScope(origins)
        self.provider = provider
    }

    /// Passes the request on, with a token if it is for the request's origin, and once more if the token was refused.
    ///
    /// - Throws: The provider's error, ``HTTPClientError`` when its token cannot be sent, or whatever `next` throws.
    public func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        guard scope.covers(request), !isAsking else { return try await next(request) }
        var request = request
        let token = try await token(insteadOf: nil, for: request)
        request.head.headerFields[.authorization] = "Bearer \(token)"
        let response = try await next(request)
        guard response.head.status == .unauthorized else {
            note(token, response)
            return response
        }
        guard !request.body.isSpent else {
            tokens.withLock { $0.wasRefused(token) }
            return response
        }
        // The provider may use the same host, where an unread response would be in its way.
        let refusal = await response.inMemoryIfShort()
        let fresh = try await self.token(insteadOf: token, for: request)
        if fresh == token, let refusal { return refusal }
        request.head.headerFields[.authorization] = "Bearer \(fresh)"
        let second = try await next(request)
        note(fresh, second)
        return second
    }

    /// Records what an answer says about the token that was sent.
    private func note(_ token: String, _ response: HTTPTransportResponse) {
        switch response.head.status.kind {
        case .successful, .redirection: tokens.withLock { $0.wasAccepted(token) }
        case .clientError where response.head.status == .unauthorized: tokens.withLock { $0.wasRefused(token) }
        case .clientError, .serverError, .informational, .invalid: break
        }
    }

    private func token(insteadOf refused: String?, for request: HTTPClientRequest) async throws -> String {
        while true {
            switch tokens.withLock({ $0.token(insteadOf: refused) }) {
            case .use(let token): return token
            case .ask(let refused):
                let token = try await request.withinTotal { [self] in
                    // Another provider that asks for this token may be what its provider waits for in another task.
                    if Self.isAsking { return try await ask(insteadOf: refused) }
                    return try await requests.value(for: refused) { [self] in try await ask(insteadOf: refused) }
                }
                if let token { return token }
            }
        }
    }

    /// Asks the provider, unless another request got a token after the decision to ask. Nil means: decide again.
    private func ask(insteadOf refused: String?) async throws -> String? {
        try Task.checkCancellation()  // those that wanted it may have gone, and others may be asking
        switch tokens.withLock({ $0.turn(toAskInsteadOf: refused) }) {
        case .ask: break
        case .use(let token): return token
        case .decideAnew: return nil
        }
        let asking = Asking(self)
        defer { asking.end() }
        let token = try await Self.$asking.withValue(Self.asking + [asking]) { try await provider(refused) }
        guard Self.isToken(token) else {
            throw HTTPClientError(
                .invalidRequest, phase: .request,
                message: "the provider's token is no Bearer token (RFC 6750, section 2.1); "
                    + "it may contain letters, digits and -._~+/, then =")
        }
        tokens.withLock { $0.received(token) }
        return token
    }

    /// `b64token` (RFC 6750, section 2.1).
    private static func isToken(_ text: String) -> Bool {
        let rest = text.utf8.drop { $0.isAlphanumeric || "-._~+/".utf8.contains($0) }
        return rest.count < text.utf8.count && rest.allSatisfy { $0 == UInt8(ascii: "=") }
    }
}

extension HTTPMiddleware where Self == HTTPBearerAuthentication {
    /// Sends a token, and gets a new one when it is refused; see ``HTTPBearerAuthentication``.
    ///
    /// - Throws: ``HTTPClientError`` when a text is not an origin.
    public static func bearer(
        for origins: [String], token provider: @escaping @Sendable (_ refused: String?) async throws -> String
    ) throws(HTTPClientError) -> Self {
        try HTTPBearerAuthentication(for: origins, token: provider)
    }
}
