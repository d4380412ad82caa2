// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkCore
import UplinkHTTP

/// The body of a stub's answer.
final class StubBody: HTTPBodySource {
    /// What comes after the pieces.
    enum Ending: Sendable {
        case complete
        case error(HTTPClientError)
        case silence
    }

    private struct State {
        var pieces: [[UInt8]]
        var received: Int64 = 0
        var isOver = false
    }

    private let state: Locked<State>
    private let ending: Ending
    private let pause: @Sendable () async throws -> Void
    private let tell: @Sendable (_ received: Int64, Result<Void, any Error>) -> Void

    /// - Parameter tell: Told once how the body ended.
    init(
        _ pieces: [[UInt8]], _ ending: Ending, pause: @escaping @Sendable () async throws -> Void,
        tell: @escaping @Sendable (_ received: Int64, Result<Void, any Error>) -> Void
    ) {
        state = Locked(State(pieces: pieces))
        (self.ending, self.pause, self.tell) = (ending, pause, tell)
    }

    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        do {
            try Task.checkCancellation()
            guard let piece = takePiece() else { return try await end() }
            try await pause()
            state.withLock { $0.received += Int64(piece.count) }
            return HTTPBody.Chunk(piece)
        } catch {
            finish(.failure(error))
            throw error
        }
    }

    /// There is no body: it is over before anybody reads.
    func endAtOnce() { finish(.success(())) }

    func cancel() { finish(.failure(CancellationError())) }

    func limit(toRemaining total: Duration) {}

    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try work()
    }

    var trailerFields: HTTPFields? { nil }

    private func takePiece() -> [UInt8]? { state.withLock { $0.pieces.isEmpty ? nil : $0.pieces.removeFirst() } }

    private nonisolated(nonsending) func end() async throws -> HTTPBody.Chunk? {
        switch ending {
        case .complete:
            finish(.success(()))
            return nil
        case .error(let error): throw error
        case .silence: throw await StubTransport.untilCancelled()
        }
    }

    private func finish(_ result: Result<Void, any Error>) {
        let received: Int64? = state.withLock { state in
            defer { state.isOver = true }
            return state.isOver ? nil : state.received
        }
        if let received { tell(received, result) }
    }
}
