// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// Tells a log about each request that passes: method, URL, fields, status or error, time to the head.
///
/// ```swift
/// configuration.middlewares = [.logging { logger.info("\($0)") }, .retry()]
/// ```
///
/// Outside of ``HTTPRetry`` it has one entry for a request and all its attempts, inside of it one for each attempt.
/// Redirects have entries of their own in either place. `Authorization`, `Proxy-Authorization`, `Cookie`, `Set-Cookie`
/// and the sensitive fields of the configuration and the options show `<redacted>`, and so do `Link` and `Refresh`, in
/// which URLs stand among other things; queries are left out, unless asked for.
public struct HTTPLogging: HTTPMiddleware {
    private let showsQueries: Bool
    private let log: @Sendable (HTTPLogEntry) -> Void

    /// Makes the middleware.
    ///
    /// - Parameters:
    ///   - showsQueries: Whether the queries of URLs are shown, which often hold what is secret.
    ///   - log: Called with each entry, in the request's task, before its answer is handed on.
    public init(showsQueries: Bool = false, to log: @escaping @Sendable (HTTPLogEntry) -> Void) {
        self.showsQueries = showsQueries
        self.log = log
    }

    /// Sends the request on, and logs what came of it.
    public func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        let redaction = Redaction(sensitiveFields: request.sensitiveFields, showsQueries: showsQueries)
        let clock = request.call.clock
        let start = clock.now()
        func note(_ outcome: HTTPLogEntry.Outcome) {
            log(
                HTTPLogEntry(
                    id: request.id, attempt: request.attempt,
                    fields: redaction.fields(request.head.headerFields, base: request.head),
                    method: request.head.method, url: redaction.url(of: request.head), outcome: outcome,
                    duration: clock.now() - start))
        }
        do {
            let response = try await next(request)
            var head = response.head
            head.headerFields = redaction.fields(head.headerFields, base: request.head)
            note(.response(head))
            return response
        } catch is CancellationError {
            note(.cancellation)
            throw CancellationError()
        } catch {
            note(.failure(error))
            throw error
        }
    }
}

extension HTTPMiddleware where Self == HTTPLogging {
    /// Tells a log about each request that passes; see ``HTTPLogging``.
    public static func logging(
        showsQueries: Bool = false, to log: @escaping @Sendable (HTTPLogEntry) -> Void
    ) -> Self { HTTPLogging(showsQueries: showsQueries, to: log) }
}
