// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

extension HTTPClient {
    /// The completion of a request. It gets a response of any status, ``HTTPClientError``, `CancellationError`, or the
    /// own error of a middleware or of the request's body.
    public typealias Completion = @Sendable (Result<HTTPCollectedResponse, any Error>) -> Void

    /// Requests a URL, and calls back with the whole response: for code that is not async.
    ///
    /// ```swift
    /// let task = client.get(from: "https://example.org/") { result in print(result) }
    /// ```
    ///
    /// - Parameters:
    ///   - url: As in ``get(_:headers:timeouts:options:)``; an invalid one is reported to the completion.
    ///   - headers: Fields to send.
    ///   - options: Options of this request. Without a total timeout, the body may take one minute from its head.
    ///   - maximum: The most bytes of a body to accept; a larger one is ``HTTPClientError/Code/bodyTooLarge``.
    ///   - completion: Called exactly once, on a thread of Swift's default pool, never on the caller's stack; then it
    ///     is released. It may block only briefly.
    /// - Returns: A task to cancel the request with.
    @discardableResult
    public func get(
        from url: String, headers: HTTPFields = [:], options: HTTPRequestOptions = .init(),
        upTo maximum: Int = 10 << 20, completion: @escaping Completion
    ) -> HTTPTask {
        start(options, upTo: maximum, completion) { try await get(url, headers: headers, options: options) }
    }

    /// Sends a request, and calls back with the whole response: for code that is not async.
    ///
    /// - Parameters:
    ///   - request: See `HTTPRequest.init(parsing:method:headerFields:)`.
    ///   - body: The request's body.
    ///   - options: Options of this request. Without a total timeout, the body may take one minute from its head.
    ///   - maximum: The most bytes of a body to accept; a larger one is ``HTTPClientError/Code/bodyTooLarge``.
    ///   - completion: As in ``get(from:headers:options:upTo:completion:)``.
    /// - Returns: A task to cancel the request with.
    @discardableResult
    public func execute(
        _ request: HTTPRequest, body: HTTPRequestBody = .none, options: HTTPRequestOptions = .init(),
        upTo maximum: Int = 10 << 20, completion: @escaping Completion
    ) -> HTTPTask {
        start(options, upTo: maximum, completion) { try await execute(request, body: body, options: options) }
    }

    private func start(
        _ options: HTTPRequestOptions, upTo maximum: Int, _ completion: @escaping Completion,
        _ send: @escaping @Sendable () async throws -> HTTPClientResponse
    ) -> HTTPTask {
        let hasTotal = (options.timeouts ?? configuration.timeouts).total != nil
        return HTTPTask(
            Task {
                let result: Result<HTTPCollectedResponse, any Error>
                do {
                    result = .success(
                        try await send().collected(upTo: maximum, within: hasTotal ? nil : .seconds(60)))
                } catch {
                    result = .failure(error)
                }
                completion(result)
            })
    }
}
