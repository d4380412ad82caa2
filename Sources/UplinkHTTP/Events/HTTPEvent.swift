// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// An event in the course of a request.
public enum HTTPEvent: Sendable {
    /// It waits in the queue.
    case queued
    /// It leaves the queue: from here on it resolves and connects, or takes an existing connection.
    case started
    /// The connection is established, and the request goes out. Reported again when a reused connection proves to be
    /// dead.
    case connected(HTTPConnection)
    /// This many bytes of the request's body have gone out, of so many if the total is known.
    case sent(bytes: Int64, of: Int64?)
    /// An interim (1xx) response arrived.
    case interim(HTTPResponse.Status)
    /// The final head arrived.
    case head(HTTPResponse.Status)
    /// The response is a redirect, which is followed to this URL (redacted).
    case redirected(to: String)
    /// An attempt failed, or its response calls for another one. Attempt number `attempt`, counted from one, begins
    /// after this pause.
    case retrying(attempt: Int, after: Duration, because: String)
    /// The body is complete, as far as anybody can tell. The parts of the timings are those of the last exchange,
    /// without redirects and failed attempts; `total` covers them all.
    case finished(HTTPTimings)
    /// There is no complete response, for this reason; nil when the task was cancelled (also by the end of the
    /// transport), the body dropped, or a middleware or the request's body threw an error of its own.
    case failed(HTTPClientError?, HTTPTimings)
}
