// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
import UplinkCore

/// Lets identical GETs that are in progress at the same time share one transfer.
///
/// Requests of one client are identical when their URL, fields and timeouts are, apart from the fields in `ignoring`.
/// Requests with a body, and requests made while an identical one is being handled or by a token provider, are never
/// shared. The first request is sent, with its events and options. The others wait for its answer and get the same
/// bytes or the same error. Exception: if the first request runs into its total timeout, those with time left send the
/// request again. A request that arrives after the answer starts a transfer of its own: nothing is cached.
///
/// Cancelling one task leaves the others alone; cancelling the last one ends the transfer. Put this middleware before
/// (outside) ``HTTPRetry``, so that attempts are also shared, and after any middleware that adds fields which differ
/// between users.
public final class HTTPSingleFlight: HTTPMiddleware {
    /// Requests with the same key are identical.
    private struct Key: Hashable {
        /// Another client may have another identity, or trust others.
        let client: ObjectIdentifier
        let url: String
        /// The values of each field, by its name. As bytes: `HTTPFields` compares them as text, in which different ones
        /// may be equal.
        let fields: [String: [[UInt8]]]
        let timeouts: HTTPTimeouts
        /// The origins that redirected here: credentials are not sent to where another origin led.
        let redirecting: [String]
    }

    private struct Answer: Sendable {
        let head: HTTPResponse
        let framing: HTTPBody.Framing
        let contentLength: Int64?
        let chunk: HTTPBody.Chunk
        let trailerFields: HTTPFields?
        let hasOwnCodings: Bool
    }

    /// What the requests that wait for one are given. Its failure is a value, unlike that of the wait for it.
    private typealias Outcome = Result<Answer, any Error>

    /// The requests that this task works on: waiting for one of them would be waiting for itself.
    @TaskLocal private static var underWay: Set<Key> = []

    private let maximum: Int
    private let ignored: [HTTPField.Name]
    private let work = SharedWork<Key, Outcome>()

    /// The number of waiting requests; for tests.
    var waiting: Int { work.waiting }

    /// Makes the middleware.
    ///
    /// - Parameters:
    ///   - maximum: The most bytes of a body. A larger one is ``HTTPClientError/Code/bodyTooLarge`` for all waiting
    ///     requests.
    ///   - ignored: Fields in which identical requests may differ, such as a request number.
    public init(upTo maximum: Int, ignoring ignored: [HTTPField.Name] = []) {
        self.maximum = maximum
        self.ignored = ignored
    }

    /// Answers a GET with the response to an identical one that is in progress; passes all others on.
    public func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        guard request.head.method == .get, request.body.isNone, let url = try? request.head.checkedURL() else {
            return try await next(request)
        }
        let fields = request.head.headerFields.filter { !ignored.contains($0.name) }
        let key = Key(
            client: ObjectIdentifier(request.call.settings), url: url.textWithoutFragment,
            fields: Dictionary(grouping: fields) { $0.name.canonicalName }
                .mapValues { $0.map { $0.withUnsafeBytesOfValue(Array.init) } },
            timeouts: request.timeouts,
            redirecting: request.history.map(\.origin))
        // Any request in progress may be waiting for a provider of tokens.
        guard !Self.underWay.contains(key), !HTTPBearerAuthentication.isAsking else {
            return try await next(request)
        }
        let answer = try await answer(to: request, key, next)
        var response = HTTPTransportResponse(
            head: answer.head,
            body: HTTPBody(
                framing: answer.framing, contentLength: answer.contentLength,
                source: KeptBody(answer.chunk, trailerFields: answer.trailerFields)))
        response.hasOwnCodings = answer.hasOwnCodings
        return response
    }
}

extension HTTPSingleFlight {
    /// The total has passed while the answer was awaited. Whoever asked for it, a server may have seen the request.
    private static let totalPassed = HTTPClientError(
        .totalTimeout, phase: .firstByte, requestDisposition: .maybeProcessed,
        message: "no answer within the total timeout to this request, or to the identical one that it waits for")

    /// Joins an identical request in progress, or starts one.
    private func answer(
        to request: HTTPClientRequest, _ key: Key, _ next: @escaping Next
    ) async throws -> Answer {
        while true {
            let isFirst = Locked(false)
            let shared: Outcome
            let mayBegin = request.remainingTime != .zero
            do {
                shared = try await request.withinTotal { [work] in
                    try await work.value(for: key) {
                        isFirst.withLock { $0 = true }
                        return await self.ask(request, key, next)
                    }
                }
            } catch let error as HTTPClientError where error.code == .totalTimeout {
                // This request's own, which knows nothing of the one that is shared.
                throw mayBegin ? Self.totalPassed : error
            }
            if !isFirst.withLock({ $0 }), case .failure(let error as HTTPClientError) = shared,
                error.code == .totalTimeout, request.remainingTime != .zero
            {
                continue  // it was the total timeout of another request, which began before this one
            }
            return try shared.get()
        }
    }

    /// Sends the request for all that wait for it.
    private func ask(_ request: HTTPClientRequest, _ key: Key, _ next: @escaping Next) async -> Outcome {
        await Self.$underWay.withValue(Self.underWay.union([key])) {
            do {
                let response = try await next(request)
                let bytes = try await response.body.collect(upTo: maximum, within: nil)
                return .success(
                    Answer(
                        head: response.head, framing: response.body.framing,
                        contentLength: response.body.contentLength, chunk: HTTPBody.Chunk(bytes),
                        trailerFields: response.body.trailerFields, hasOwnCodings: response.hasOwnCodings))
            } catch {
                return .failure(error)
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
