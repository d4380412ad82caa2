// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
import UplinkCore

/// Lets identical GETs that are under way at the same time share one transfer.
///
/// Requests of one client are identical when URL, fields and timeouts are, the fields in `ignoring` left out; a request
/// with a body is never shared, nor one that is made in the course of an identical one, or by a provider of tokens. The
/// first one is sent, with its events and options; the others wait for its answer, body included, and get the same bytes or
/// the same error, but for its total timeout: who has time left asks again. Who comes after the answer has a transfer of
/// their own: nothing is cached.
///
/// A task that is cancelled leaves the others alone; the last one's cancellation ends the transfer. Stand it before
/// (outside of) ``HTTPRetry``, so that attempts are shared too, and after what adds fields that differ between users.
public final class HTTPSingleFlight: HTTPMiddleware {
    /// What makes requests identical.
    private struct Key: Hashable {
        /// Another one may have another identity, or trust others.
        let client: ObjectIdentifier
        let url: String
        let fields: HTTPFields
        let timeouts: HTTPTimeouts
        /// The origins that redirected here: to what another one led, credentials are not sent.
        let redirecting: [String]
    }

    private struct Answer: Sendable {
        let head: HTTPResponse
        let framing: HTTPBody.Framing
        let contentLength: Int64?
        let chunk: HTTPBody.Chunk
        let trailerFields: HTTPFields?
    }

    /// What this task is in the course of: who waited for it would wait for themselves.
    @TaskLocal private static var underWay: Set<Key> = []

    private let maximum: Int
    private let ignored: [HTTPField.Name]
    private let work = SharedWork<Key, Answer>()

    /// How many requests wait; for tests.
    var waiting: Int { work.waiting }

    /// Makes the middleware.
    ///
    /// - Parameters:
    ///   - maximum: The most bytes of a body. A larger one is ``HTTPClientError/Code/bodyTooLarge`` for all who wait.
    ///   - ignored: Fields in which requests may differ all the same, such as one with a request's number.
    public init(upTo maximum: Int, ignoring ignored: [HTTPField.Name] = []) {
        self.maximum = maximum
        self.ignored = ignored
    }

    /// Answers a GET with the answer of an identical one that is under way; sends on all others.
    public func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        guard request.head.method == .get, request.body.isNone, let url = try? request.head.checkedURL() else {
            return try await next(request)
        }
        var fields = request.head.headerFields
        for name in ignored { fields[name] = nil }
        let key = Key(
            client: ObjectIdentifier(request.call.settings), url: url.textWithoutFragment, fields: fields,
            timeouts: request.timeouts,
            redirecting: request.history.map(\.origin))
        // A provider of tokens may be waited for by any that is under way.
        guard !Self.underWay.contains(key), HTTPBearerAuthentication.providing == nil else {
            return try await next(request)
        }
        let answer = try await answer(to: request, key, next)
        return HTTPTransportResponse(
            head: answer.head,
            body: HTTPBody(
                framing: answer.framing, contentLength: answer.contentLength,
                source: KeptBody(answer.chunk, trailerFields: answer.trailerFields)))
    }
}

extension HTTPSingleFlight {
    /// Joins the flight of an identical request, or starts one.
    private func answer(
        to request: HTTPClientRequest, _ key: Key, _ next: @escaping Next
    ) async throws -> Answer {
        while true {
            let isFirst = Locked(false)
            do {
                return try await request.withinTotal { [work, maximum] in
                    try await work.value(for: key) {
                        isFirst.withLock { $0 = true }
                        return try await Self.$underWay.withValue(Self.underWay.union([key])) {
                            let response = try await next(request)
                            let bytes = try await response.body.collect(upTo: maximum, within: nil)
                            return Answer(
                                head: response.head, framing: response.body.framing,
                                contentLength: response.body.contentLength, chunk: HTTPBody.Chunk(bytes),
                                trailerFields: response.body.trailerFields)
                        }
                    }
                }
            } catch let error as HTTPClientError where error.code == .totalTimeout {
                // It was another one's total, who began before this one.
                guard !isFirst.withLock({ $0 }), let left = request.remainingTime, left > .zero else { throw error }
            }
        }
    }
}

extension HTTPMiddleware where Self == HTTPSingleFlight {
    /// Lets identical GETs share one transfer; see ``HTTPSingleFlight``.
    public static func singleFlight(upTo maximum: Int, ignoring ignored: [HTTPField.Name] = []) -> Self {
        HTTPSingleFlight(upTo: maximum, ignoring: ignored)
    }
}
