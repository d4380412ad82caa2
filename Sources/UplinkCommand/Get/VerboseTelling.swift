// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Uplink

/// Prints for every exchange of a call what went out and what came in, including the fields that the client added, and
/// what happened in between, all in order. The timings come last, after the body.
final class VerboseTelling: HTTPMiddleware {
    private enum Entry: Sendable {
        /// Lines to write.
        case lines([String])
        /// A task waits until everything before is written.
        case mark(CheckedContinuation<Void, Never>)
    }

    private let entries: AsyncStream<Entry>
    private let told: AsyncStream<Entry>.Continuation
    private let end = Locked<[String]>([])

    init() { (entries, told) = AsyncStream.makeStream() }

    /// Sees each attempt, because it is inside the retries.
    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        tell(Transcript.lines(of: request.head, request.body, isRedirected: !request.redirects.isEmpty))
        let response = try await next(request)
        tell(Transcript.lines(of: response.head, response.version))
        return response
    }

    /// Takes an event, on any thread.
    func take(_ event: HTTPEvent) {
        switch event {
        case .finished, .failed: end.withLock { $0 = Transcript.lines(of: event) }
        case .queued, .started, .connected, .sent, .interim, .head, .redirected, .retrying:
            tell(Transcript.lines(of: event))
        }
    }

    private func tell(_ lines: [String]) { told.yield(.lines(lines)) }

    /// Returns when everything that has happened is printed.
    func catchUp() async {
        await withCheckedContinuation { waiter in
            if case .terminated = told.yield(.mark(waiter)) { waiter.resume() }
        }
    }

    /// Runs `body`, and prints everything that happens meanwhile.
    func tellingAll(
        to output: @escaping @Sendable ([String]) -> Void, of body: () async throws -> Void
    ) async throws {
        let telling = Task { [entries] in
            for await entry in entries {
                switch entry {
                case .lines(let lines): output(lines)
                case .mark(let waiter): waiter.resume()
                }
            }
        }
        do {
            try await body()
        } catch {
            await finish(telling)
            throw error
        }
        await finish(telling)
    }

    private func finish(_ telling: Task<Void, Never>) async {
        tell(end.withLock { $0 })
        told.finish()
        await telling.value
    }
}
