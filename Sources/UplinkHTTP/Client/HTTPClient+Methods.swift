// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

extension HTTPClient {
    /// Gets a URL and returns as soon as the head of the response has arrived.
    ///
    /// - Parameters:
    ///   - url: An absolute `http` or `https` URL (RFC 3986), percent-encoded, without user and password.
    ///   - headers: Fields to send.
    ///   - timeouts: Replaces the configuration's timeouts.
    /// - Throws: ``HTTPClientError``, `CancellationError` immediately when the task is cancelled, or the error of a
    ///   middleware. A status such as 404 is not an error.
    public nonisolated(nonsending) func get(
        _ url: String, headers: HTTPFields = [:], timeouts: HTTPTimeouts? = nil
    ) async throws -> HTTPClientResponse {
        try await hops(.get, url, headers, timeouts).response()
    }

    /// Gets a URL, with options.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public nonisolated(nonsending) func get(
        _ url: String, headers: HTTPFields = [:], options: HTTPRequestOptions
    ) async throws -> HTTPClientResponse {
        try await hops(.get, url, headers, options).response()
    }

    /// Requests only the head. The body's `contentLength` is what a GET would return; the body itself is empty.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public nonisolated(nonsending) func head(
        _ url: String, headers: HTTPFields = [:], timeouts: HTTPTimeouts? = nil
    ) async throws -> HTTPClientResponse {
        try await hops(.head, url, headers, timeouts).response()
    }

    /// Requests only the head, with options.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public nonisolated(nonsending) func head(
        _ url: String, headers: HTTPFields = [:], options: HTTPRequestOptions
    ) async throws -> HTTPClientResponse {
        try await hops(.head, url, headers, options).response()
    }

    /// Posts a body to a resource. It is sent once, unless none of it went out or the options declare it idempotent.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public nonisolated(nonsending) func post(
        _ url: String, body: HTTPRequestBody, headers: HTTPFields = [:], options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.post, url, headers, options, body).response()
    }

    /// Replaces a resource by the body.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public nonisolated(nonsending) func put(
        _ url: String, body: HTTPRequestBody, headers: HTTPFields = [:], options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.put, url, headers, options, body).response()
    }

    /// Changes a resource as the body says (RFC 5789). It is sent once, unless none of it went out or the options
    /// declare it idempotent.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public nonisolated(nonsending) func patch(
        _ url: String, body: HTTPRequestBody, headers: HTTPFields = [:], options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.patch, url, headers, options, body).response()
    }

    /// Deletes a resource.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public nonisolated(nonsending) func delete(
        _ url: String, body: HTTPRequestBody = .none, headers: HTTPFields = [:], options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.delete, url, headers, options, body).response()
    }

    // Code that awaits a response holds nothing of what these functions need on their way; see `HTTPHops`.

    @inline(never)
    private func hops(
        _ method: HTTPRequest.Method, _ url: String, _ headers: HTTPFields, _ timeouts: HTTPTimeouts?
    ) throws -> HTTPHops {
        try hops(HTTPCall(HTTPRequestOptions(timeouts: timeouts), settings), method, url, headers, .none)
    }

    @inline(never)
    private func hops(
        _ method: HTTPRequest.Method, _ url: String, _ headers: HTTPFields, _ options: HTTPRequestOptions
    ) throws -> HTTPHops { try hops(HTTPCall(options, settings), method, url, headers, .none) }

    @inline(never)
    private func hops(
        _ method: HTTPRequest.Method, _ url: String, _ headers: HTTPFields, _ options: HTTPRequestOptions,
        _ body: HTTPRequestBody
    ) throws -> HTTPHops { try hops(HTTPCall(options, settings), method, url, headers, body) }

    private func hops(
        _ call: HTTPCall, _ method: HTTPRequest.Method, _ url: String, _ headers: HTTPFields, _ body: HTTPRequestBody
    ) throws -> HTTPHops {
        try hops(call, body) { () throws(HTTPClientError) in
            RequestHead(method, try HTTPURLParser.parse(url).withoutFragment, headers)
        }
    }
}
