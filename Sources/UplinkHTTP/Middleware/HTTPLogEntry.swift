// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// What a log says about a request. It contains nothing secret, as far as the client knows what is secret.
public struct HTTPLogEntry: Sendable {
    /// The outcome of a request.
    public enum Outcome: Sendable {
        /// This response, with its fields redacted. Its body may still arrive.
        case response(HTTPResponse)
        /// This error.
        case failure(any Error)
        /// The task was cancelled, or the transport shut down with what was running.
        case cancellation
    }

    /// The number of the call, shared by its redirects and attempts.
    public let id: UInt64
    /// The number of the attempt, from one, if an ``HTTPRetry`` is outside the log.
    public let attempt: Int
    /// The request's fields. Secret ones are shown as `<redacted>`. The URLs in `Location`, `Content-Location`,
    /// `Referer` and `Destination` have no query unless the log shows queries; name other fields with such URLs in
    /// ``HTTPClient/Configuration/sensitiveFields``.
    public let fields: HTTPFields
    /// The method.
    public let method: HTTPRequest.Method
    /// The URL, without its query unless the log shows queries.
    public let url: String
    /// The outcome.
    public let outcome: Outcome
    /// The time from the request to the head of the response, or to the error.
    public let duration: Duration
}

extension HTTPLogEntry: CustomStringConvertible {
    /// One line, such as `#12 GET https://example.org/?… 200 in 31 ms`.
    public var description: String {
        let again = attempt > 1 ? " (attempt \(attempt))" : ""
        let result =
            switch outcome {
            case .response(let response): "\(response.status.code)"
            case .failure(let error as HTTPClientError): "failed: \(error.shortDescription): \(error.message)"
            case .failure(let error): "failed: \(type(of: error))"  // its text is not ours to show
            case .cancellation: "cancelled"
            }
        return "#\(id) \(method.rawValue) \(url)\(again) \(result) in \(duration.milliseconds) ms"
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 { Int64(clamping: Int128(self / .milliseconds(1))) }
}
