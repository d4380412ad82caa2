// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// A request that was started from code that is not async.
///
/// A value of which any number of copies may be kept, or none: to drop it neither cancels the request nor leaks.
public struct HTTPTask: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    /// Cancels the request. From any thread, at any moment, any number of times; after the end it does nothing.
    ///
    /// The completion gets `CancellationError`, unless the answer was there already.
    public func cancel() { task.cancel() }
}

extension HTTPClient {
    /// What a completion gets: an answer whatever its status, ``HTTPClientError``, `CancellationError`, or a
    /// middleware's own error.
    public typealias Completion = @Sendable (Result<HTTPCollectedResponse, any Error>) -> Void

    /// Asks for a URL, and calls back with the whole answer: for code that is not async.
    ///
    /// ```swift
    /// let task = client.get(from: "https://example.org/") { result in print(result) }
    /// ```
    ///
    /// - Parameters:
    ///   - url: As in ``get(_:headers:timeouts:)``; a wrong one is an error for the completion.
    ///   - headers: Fields to send.
    ///   - options: What this request does differently. Without a total timeout the body has a minute from its head.
    ///   - maximum: The most bytes of a body to accept; a larger one is ``HTTPClientError/Code/bodyTooLarge``.
    ///   - completion: Called exactly once, on a thread of Swift's default pool, never on the caller's stack. Then it is
    ///     released. It may block for moments only.
    /// - Returns: The way to cancel.
    @discardableResult
    public func get(
        from url: String, headers: HTTPFields = [:], options: HTTPRequestOptions = .init(),
        upTo maximum: Int = 10 << 20, completion: @escaping Completion
    ) -> HTTPTask {
        start(options, upTo: maximum, completion) { try await get(url, headers: headers, options: options) }
    }

    /// Sends a request, and calls back with the whole answer: for code that is not async.
    ///
    /// - Parameters:
    ///   - request: See `HTTPRequest.init(parsing:method:headerFields:)`.
    ///   - body: What the request carries.
    ///   - options: What this request does differently. Without a total timeout the body has a minute from its head.
    ///   - maximum: The most bytes of a body to accept; a larger one is ``HTTPClientError/Code/bodyTooLarge``.
    ///   - completion: As in ``get(from:headers:options:upTo:completion:)``.
    /// - Returns: The way to cancel.
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
