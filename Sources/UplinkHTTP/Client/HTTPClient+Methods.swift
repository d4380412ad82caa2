// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

extension HTTPClient {
    /// Asks for a URL and returns when the head of the answer is there.
    ///
    /// - Parameters:
    ///   - url: An absolute `http` or `https` URL (RFC 3986), percent-encoded, without user and password.
    ///   - headers: Fields to send.
    ///   - timeouts: In place of the configuration's.
    /// - Throws: ``HTTPClientError``, `CancellationError` at once when the task is cancelled, or what a middleware
    ///   throws. A status such as 404 is no error.
    public func get(
        _ url: String, headers: HTTPFields = [:], timeouts: HTTPTimeouts? = nil
    ) async throws -> HTTPClientResponse {
        try await hops(.get, url, .none, headers, timeouts).response()
    }

    /// Asks for a URL, with options.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public func get(
        _ url: String, headers: HTTPFields = [:], options: HTTPRequestOptions
    ) async throws -> HTTPClientResponse {
        try await hops(.get, url, .none, headers, options).response()
    }

    /// Asks for the head alone. `contentLength` of the body tells what a GET would bring; the body itself is empty.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public func head(
        _ url: String, headers: HTTPFields = [:], timeouts: HTTPTimeouts? = nil
    ) async throws -> HTTPClientResponse {
        try await hops(.head, url, .none, headers, timeouts).response()
    }

    /// Asks for the head alone, with options.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public func head(
        _ url: String, headers: HTTPFields = [:], options: HTTPRequestOptions
    ) async throws -> HTTPClientResponse {
        try await hops(.head, url, .none, headers, options).response()
    }

    /// Has a resource process a body. It is sent once, unless nothing of it went out or the options declare it
    /// idempotent.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public func post(
        _ url: String, body: HTTPRequestBody, headers: HTTPFields = [:], options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.post, url, body, headers, options).response()
    }

    /// Puts a body in the place of a resource.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public func put(
        _ url: String, body: HTTPRequestBody, headers: HTTPFields = [:], options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.put, url, body, headers, options).response()
    }

    /// Changes a resource as the body says (RFC 5789). It is sent once, unless nothing of it went out or the options
    /// declare it idempotent.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public func patch(
        _ url: String, body: HTTPRequestBody, headers: HTTPFields = [:], options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.patch, url, body, headers, options).response()
    }

    /// Removes a resource.
    ///
    /// - Throws: As ``get(_:headers:timeouts:)``.
    public func delete(
        _ url: String, body: HTTPRequestBody = .none, headers: HTTPFields = [:], options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.delete, url, body, headers, options).response()
    }

    @inline(never)  // see `HTTPHops`
    private func hops(
        _ method: HTTPRequest.Method, _ url: String, _ body: HTTPRequestBody, _ headers: HTTPFields,
        _ timeouts: HTTPTimeouts?
    ) throws -> HTTPHops {
        try hops(HTTPCall(HTTPRequestOptions(timeouts: timeouts), settings), method, url, body, headers)
    }

    @inline(never)
    private func hops(
        _ method: HTTPRequest.Method, _ url: String, _ body: HTTPRequestBody, _ headers: HTTPFields,
        _ options: HTTPRequestOptions
    ) throws -> HTTPHops {
        try hops(HTTPCall(options, settings), method, url, body, headers)
    }

    private func hops(
        _ call: HTTPCall, _ method: HTTPRequest.Method, _ url: String, _ body: HTTPRequestBody, _ headers: HTTPFields
    ) throws -> HTTPHops {
        try hops(call, body) { () throws(HTTPClientError) in
            RequestHead(method, try HTTPURLParser.parse(url).withoutFragment, headers)
        }
    }
}
