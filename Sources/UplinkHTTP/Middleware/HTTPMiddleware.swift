// SPDX-License-Identifier: Apache-2.0

/// Code between a client and its transport: it sees each request, and may change it, answer it or send it again.
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
/// The first in ``HTTPClient/Configuration/middlewares`` is the outermost: it sees a request first and its response
/// last. The client follows redirects outside all of them, so each request of a chain of redirects passes through
/// separately. ``HTTPRetry`` repeats what is inside it: a middleware before it in the list sees one request and the
/// final response, a middleware after it sees every attempt. Content is also decoded outside: a middleware sees bodies
/// as they were sent.
public protocol HTTPMiddleware: Sendable {
    /// The next layer inside: another middleware, or the transport.
    typealias Next = @Sendable (HTTPClientRequest) async throws -> HTTPTransportResponse

    /// Responds to a request, usually with the response of `next`.
    ///
    /// `next` may be called any number of times, one call after another, or not at all. A later call fails if the body
    /// is spent and not ``HTTPRequestBody/isReplayable``. A response that is not returned must be dropped, including
    /// its body. To change a body, set it in the response of `next`: events and metrics go on to its end. A response
    /// made anew is the middleware's own, and for them it ends with its head.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - next: Passes the request on. Returns when the head has arrived; the body follows as it is read.
    /// - Throws: Whatever `next` throws (``HTTPClientError``, `CancellationError`), or an error of its own, which the
    ///   client's caller gets unchanged.
    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse
}
