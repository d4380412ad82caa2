// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// A source in front of another one, which passes everything on that it does not do itself. It has no mailbox: what
/// comes to it in one piece would pass it by.
protocol ForwardingBodySource: HTTPBodySource {
    /// What it passes on to.
    var inner: any HTTPBodySource { get }
}

extension ForwardingBodySource {
    func cancel() { inner.cancel() }

    func fail(_ error: HTTPClientError) -> HTTPClientError { inner.fail(error) }

    func limit(toRemaining total: Duration) { inner.limit(toRemaining: total) }

    func decline() { inner.decline() }

    var heedsLimit: Bool { inner.heedsLimit }

    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await inner.performBlocking(work)
    }

    func performBlocking<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result,
        completion: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
    ) {
        inner.performBlocking(work, completion: completion)
    }

    var trailerFields: HTTPFields? { inner.trailerFields }
}
