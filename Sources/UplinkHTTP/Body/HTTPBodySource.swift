// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

/// The source of a body's chunks: one reader, at most one call of ``next()`` at a time.
package protocol HTTPBodySource: AnyObject, Sendable {
    /// Returns the next chunk, or nil at the end. When the reader's task is cancelled, it throws `CancellationError`
    /// once nothing of the transfer is left.
    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk?

    /// The mailbox that ``next()`` takes from, if there is one: everything still to come can be had there in one piece.
    var bodyMailbox: Mailbox? { get }

    /// Ends the transfer. May be called from any thread, at any time and any number of times; returns immediately.
    func cancel()

    /// The reader found the body to be broken: ends the transfer, and reports the reason to observers.
    ///
    /// - Returns: The error, completed with what is known here.
    func fail(_ error: HTTPClientError) -> HTTPClientError

    /// Ends the transfer with ``HTTPClientError/Code/totalTimeout`` unless the body is complete by then.
    func limit(toRemaining total: Duration)

    /// Nobody wants the body, which is read only so that its connection can be used again. If it does not come within
    /// the limit for that, observers hear that it was dropped, not that a timeout has passed.
    func decline()

    /// Whether ``limit(toRemaining:)`` has an effect, or is not needed because everything is in memory; otherwise only
    /// the reader's cancellation ends a wait.
    var heedsLimit: Bool { get }

    /// Runs work that may block (files) where it holds nobody up.
    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result

    /// The same for callers that do not wait: `completion` is called once, on any thread.
    func performBlocking<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result,
        completion: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void)

    /// The trailer fields, once the end has been reached.
    var trailerFields: HTTPFields? { get }
}

extension HTTPBodySource {
    package var bodyMailbox: Mailbox? { nil }

    package func fail(_ error: HTTPClientError) -> HTTPClientError {
        cancel()
        return error
    }

    package func decline() {}

    package var heedsLimit: Bool { true }

    package func performBlocking<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result,
        completion: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
        Task {
            do {
                completion(.success(try await performBlocking(work)))
            } catch {
                completion(.failure(error))
            }
        }
    }
}
