// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

extension HTTPClient {
    /// Gets a URL and returns as soon as the head of the response has arrived.
    ///
    /// - Parameters:
    ///   - url: An absolute `http` or `https` URL (RFC 3986), percent-encoded, without user and password.
    ///   - headers: Fields to send.
    ///   - timeouts: Replaces the timeouts of the options and of the configuration.
    ///   - options: Options of this request.
    /// - Throws: As ``execute(_:body:options:)``.
    public nonisolated(nonsending) func get(
        _ url: String, headers: HTTPFields = [:], timeouts: HTTPTimeouts? = nil, options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.get, url, headers, timeouts, options).response()
    }

    /// Requests only the head. The body's `contentLength` is what a GET would return; the body itself is empty.
    ///
    /// - Throws: As ``execute(_:body:options:)``.
    public nonisolated(nonsending) func head(
        _ url: String, headers: HTTPFields = [:], timeouts: HTTPTimeouts? = nil, options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.head, url, headers, timeouts, options).response()
    }

    /// Posts a body to a resource. It is sent once, unless none of it went out or the options declare it idempotent.
    ///
    /// - Throws: As ``execute(_:body:options:)``.
    public nonisolated(nonsending) func post(
        _ url: String, body: HTTPRequestBody, headers: HTTPFields = [:], timeouts: HTTPTimeouts? = nil,
        options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.post, url, body, headers, timeouts, options).response()
    }

    /// Replaces a resource by the body.
    ///
    /// - Throws: As ``execute(_:body:options:)``.
    public nonisolated(nonsending) func put(
        _ url: String, body: HTTPRequestBody, headers: HTTPFields = [:], timeouts: HTTPTimeouts? = nil,
        options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.put, url, body, headers, timeouts, options).response()
    }

    /// Changes a resource as the body says (RFC 5789). It is sent once, unless none of it went out or the options
    /// declare it idempotent.
    ///
    /// - Throws: As ``execute(_:body:options:)``.
    public nonisolated(nonsending) func patch(
        _ url: String, body: HTTPRequestBody, headers: HTTPFields = [:], timeouts: HTTPTimeouts? = nil,
        options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.patch, url, body, headers, timeouts, options).response()
    }

    /// Deletes a resource.
    ///
    /// - Throws: As ``execute(_:body:options:)``.
    public nonisolated(nonsending) func delete(
        _ url: String, body: HTTPRequestBody = .none, headers: HTTPFields = [:], timeouts: HTTPTimeouts? = nil,
        options: HTTPRequestOptions = .init()
    ) async throws -> HTTPClientResponse {
        try await hops(.delete, url, body, headers, timeouts, options).response()
    }

    // Code that awaits a response holds nothing of what this function needs on its way; see `HTTPHops`.

    @inline(never)
    private func hops(
        _ method: HTTPRequest.Method, _ url: String, _ headers: HTTPFields, _ timeouts: HTTPTimeouts?,
        _ options: HTTPRequestOptions
    ) throws -> HTTPHops {
        try hops(method, url, .none, headers, timeouts, options)
    }

    @inline(never)
    private func hops(
        _ method: HTTPRequest.Method, _ url: String, _ body: HTTPRequestBody, _ headers: HTTPFields,
        _ timeouts: HTTPTimeouts?, _ options: HTTPRequestOptions
    ) throws -> HTTPHops {
        var options = options
        if let timeouts { options.timeouts = timeouts }
        return try hops(HTTPCall(options, settings), body) { () throws(HTTPClientError) in
            RequestHead(method, try HTTPURLParser.parse(url), headers)
        }
    }
}
