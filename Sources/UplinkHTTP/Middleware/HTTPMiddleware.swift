// SPDX-License-Identifier: Apache-2.0

/// Stands between a client and its transport: sees each request, may change it, answer it, send it again.
///
/// ```swift
/// struct Timestamp: HTTPMiddleware {
///     func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
///         var request = request
///         request.head.headerFields[.init("X-Sent-At")!] = timestamp()
///         return try await next(request)
///     }
/// }
/// configuration.middlewares = [.logging { print($0) }, .retry(), Timestamp()]
/// ```
///
/// The first in ``HTTPClient/Configuration/middlewares`` is the outermost: it sees a request first and its answer last.
/// The client follows redirects outside of them all, so each request of a chain of redirects passes through on its own.
/// ``HTTPRetry`` sends again what stands inside of it: a middleware before it in the list sees one request and the
/// answer that was taken in the end, a middleware after it sees every attempt. Content is decoded outside too: a
/// middleware sees bodies as they were sent.
public protocol HTTPMiddleware: Sendable {
    /// What stands inside: the next middleware, or the transport.
    typealias Next = @Sendable (HTTPClientRequest) async throws -> HTTPTransportResponse

    /// Answers a request, as a rule with what `next` answers.
    ///
    /// `next` may be called not at all, once, or several times in turn; a body that is spent and not
    /// ``HTTPRequestBody/isReplayable`` fails then. An answer that is not returned is to be dropped, its body with it.
    ///
    /// - Parameters:
    ///   - request: What is to be sent.
    ///   - next: Sends it on. It returns when the head is there; the body follows while it is read.
    /// - Throws: What `next` throws (``HTTPClientError``, `CancellationError`), or an error of its own, which the
    ///   client's caller gets unchanged.
    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse
}
