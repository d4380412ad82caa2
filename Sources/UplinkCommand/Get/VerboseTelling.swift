// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Uplink

/// Tells of every exchange of a call what went out and what came, with the fields that the client added, and between them
/// what happened, all in its order. The end's timings come last, behind the body.
final class VerboseTelling: HTTPMiddleware {
    private let lines: AsyncStream<[String]>
    private let told: AsyncStream<[String]>.Continuation
    private let end = Locked<[String]>([])

    init() { (lines, told) = AsyncStream.makeStream() }

    /// Whatever stands inside of a retry sees each attempt.
    func respond(to request: HTTPClientRequest, next: @escaping Next) async throws -> HTTPTransportResponse {
        told.yield(Transcript.lines(of: request.head, request.body))
        let response = try await next(request)
        told.yield(Transcript.lines(of: response.head))
        return response
    }

    /// Takes an event in, from any thread.
    func take(_ event: HTTPEvent) {
        switch event {
        case .finished, .failed: end.withLock { $0 = Transcript.lines(of: event) }
        case .queued, .started, .connected, .sent, .interim, .head, .redirected, .retrying:
            told.yield(Transcript.lines(of: event))
        }
    }

    /// Has `body` done, and everything told that happens meanwhile.
    func tellingAll(
        to output: @escaping @Sendable ([String]) -> Void, of body: () async throws -> Void
    ) async throws {
        let telling = Task { [lines] in for await some in lines { output(some) } }
        do {
            try await body()
        } catch {
            await finish(telling)
            throw error
        }
        await finish(telling)
    }

    private func finish(_ telling: Task<Void, Never>) async {
        told.yield(end.withLock { $0 })
        told.finish()
        await telling.value
    }
}
