// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// The figures of one request that has ended, including its body.
public struct HTTPMetrics: Sendable {
    /// How a request ended.
    public enum Outcome: Sendable, Hashable {
        /// With a complete response of this status.
        case status(Int)
        /// With this kind of error.
        case error(HTTPClientError.Code)
        /// Its task was cancelled or its body dropped, or a middleware or the request's body threw an error of its own.
        case abandoned
    }

    /// The outcome.
    public let outcome: Outcome
    /// The status of the response, if the last exchange brought a head or a middleware answered.
    public let status: Int?
    /// The method's name.
    public let method: String
    /// Scheme, host and port, such as `https://example.org`.
    public let origin: String
    /// How many times it was sent.
    public let exchanges: Int
    /// The durations of the parts of the last exchange; `total` is the time from the request to the end, and the bytes
    /// are those of all exchanges.
    public let timings: HTTPTimings

    /// The outcome as one of a fixed number of words: `200`, `connectTimeout`, `abandoned`.
    public var label: String {
        switch outcome {
        case .status(let status): "\(status)"
        case .error(let code): code.description
        case .abandoned: "abandoned"
        }
    }
}

/// Receives the figures of requests that have ended.
public protocol HTTPMetricsRecorder: Sendable {
    /// Receives the figures of one request, when its body has ended. Called on any thread; it must not block.
    func record(_ metrics: HTTPMetrics)
}

/// Reports the figures of each request that passes, once its body has ended.
///
/// Outside ``HTTPRetry`` there is one report for a request with all its attempts, inside it one for each attempt.
/// Redirects are reported separately in both places. A body has ended when it has arrived or been dropped, which for a
/// long one takes a reader (``HTTPLimits/bufferedBytes``); whether a short one can be decoded is not known by then.
public struct HTTPMetricsReporting: HTTPMiddleware {
    private let record: @Sendable (HTTPMetrics) -> Void

    /// Reports to a recorder.
    public init(to recorder: some HTTPMetricsRecorder) { record = { recorder.record($0) } }

    /// Reports to a closure, from any thread; it must not block.
    public init(to record: @escaping @Sendable (HTTPMetrics) -> Void) { self.record = record }

    /// Passes the request on, and reports when it has ended.
    public func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        let passage = MetricsPassage(of: request, record: record)
        var request = request
        request.observeExchanges { passage.told($0, by: $1) }
        do {
            let response = try await next(request)
            passage.settled(response)
            return response
        } catch {
            passage.failed(error)
            throw error
        }
    }
}

extension HTTPMiddleware where Self == HTTPMetricsReporting {
    /// Reports the figures of each request that passes; see ``HTTPMetricsReporting``.
    public static func metrics(to recorder: some HTTPMetricsRecorder) -> Self { HTTPMetricsReporting(to: recorder) }

    /// Reports the figures of each request that passes to a closure; see ``HTTPMetricsReporting``.
    public static func metrics(to record: @escaping @Sendable (HTTPMetrics) -> Void) -> Self {
        HTTPMetricsReporting(to: record)
    }
}
