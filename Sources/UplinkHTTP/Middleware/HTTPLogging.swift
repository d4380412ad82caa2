// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore

/// Logs each request that passes: method, URL, fields, status or error, time to the head.
///
/// ```swift
/// configuration.middlewares = [.logging { logger.info("\($0)") }, .retry()]
/// ```
///
/// Outside ``HTTPRetry`` it logs one entry for a request with all its attempts, inside it one for each attempt.
/// Redirects have entries of their own in both places. `Authorization`, `Proxy-Authorization`, `Cookie`, `Set-Cookie`
/// and the sensitive fields of the configuration and the options are shown as `<redacted>`, and so are `Link` and
/// `Refresh`, which contain URLs among other things. The queries of the request's URL, and of those in `Location`,
/// `Content-Location`, `Referer` and `Destination`, are left out unless asked for; name other fields with secrets in
/// ``HTTPClient/Configuration/sensitiveFields``.
public struct HTTPLogging: HTTPMiddleware {
    private let showsQueries: Bool
    private let log: @Sendable (HTTPLogEntry) -> Void

    /// Makes the middleware.
    ///
    /// - Parameters:
    ///   - showsQueries: Whether to show the queries of URLs, which often contain secrets.
    ///   - log: Called with each entry, in the request's task, before its response is passed on.
    public init(showsQueries: Bool = false, to log: @escaping @Sendable (HTTPLogEntry) -> Void) {
        self.showsQueries = showsQueries
        self.log = log
    }

    /// Passes the request on, and logs the outcome.
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
    /// Logs each request that passes; see ``HTTPLogging``.
    public static func logging(
        showsQueries: Bool = false, to log: @escaping @Sendable (HTTPLogEntry) -> Void
    ) -> Self { HTTPLogging(showsQueries: showsQueries, to: log) }
}
