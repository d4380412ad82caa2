// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// What happens to a request, as it happens.
public enum HTTPEvent: Sendable {
    /// It waits for its turn.
    case queued
    /// Its turn has come: from here on it resolves, connects, or takes a connection that is there.
    case started
    /// The connection stands, and the request goes out. Once more when a connection that was used again proves dead.
    case connected(HTTPConnection)
    /// So many bytes of the request's body have gone out, of so many where that is known.
    case sent(bytes: Int64, of: Int64?)
    /// An interim (1xx) answer came.
    case interim(HTTPResponse.Status)
    /// The final head came.
    case head(HTTPResponse.Status)
    /// The answer is a redirect, which is followed to this URL (redacted).
    case redirected(to: String)
    /// An attempt failed, or its answer asks for another one: this one, counted from one, begins after this long.
    case retrying(attempt: Int, after: Duration, because: String)
    /// The body is whole, as far as anybody can tell. The timings' parts are those of the last exchange, its redirects
    /// and failed attempts left out; `total` counts them all.
    case finished(HTTPTimings)
    /// There is no whole answer, for this reason; nil when the task was cancelled, the body dropped, or a middleware
    /// threw an error of its own.
    case failed(HTTPClientError?, HTTPTimings)
}
