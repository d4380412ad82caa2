// SPDX-License-Identifier: Apache-2.0

/// Carries one request to a server and brings its response back: the interface between ``HTTPClient`` and what does the
/// work.
///
/// A transport follows no redirects and judges no statuses. `CurlTransport` is the real one; one for tests may be as
/// short as this:
///
/// ```swift
/// struct Always: HTTPTransport {
///     func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
///         HTTPTransportResponse(head: HTTPResponse(status: .ok), body: HTTPBody(Array("hello".utf8)))
///     }
/// }
/// ```
public protocol HTTPTransport: Sendable {
    /// Sends a request and returns when the final head has arrived; the body follows by itself.
    ///
    /// When the task is cancelled it throws `CancellationError`; by then the transfer is gone completely.
    ///
    /// - Throws: ``HTTPClientError``, or the error of the sequence that the request's body iterates.
    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse
}
