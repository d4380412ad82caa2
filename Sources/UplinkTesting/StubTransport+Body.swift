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
        var timeouts: StubTimeouts?
        /// How it ended; nil while it has not.
        var result: Result<Void, any Error>?
    }

    private let state: Locked<State>
    private let ending: Ending
    private let expected: Int64?
    private let pause: (@Sendable () async throws -> Void)?
    private let tell: @Sendable (_ received: Int64, Result<Void, any Error>) -> Void

    /// - Parameters:
    ///   - expected: How many bytes the whole body has, if the head says so.
    ///   - tell: Called once, with how the body ended.
    init(
        _ pieces: [[UInt8]], _ ending: Ending, expecting expected: Int64?,
        pause: (@Sendable () async throws -> Void)?, _ timeouts: StubTimeouts?,
        tell: @escaping @Sendable (_ received: Int64, Result<Void, any Error>) -> Void
    ) {
        state = Locked(State(pieces: pieces, timeouts: timeouts))
        (self.ending, self.expected) = (ending, expected)
        (self.pause, self.tell) = (pause, tell)
    }

    nonisolated(nonsending) func next() async throws -> HTTPBody.Chunk? {
        if let result = state.withLock({ $0.result }) {
            try result.get()
            return nil
        }
        do {
            try Task.checkCancellation()
            try state.withLock { $0.timeouts }?.check()
            guard let piece = takePiece() else { return try await end() }
            if let pause { try await wait(pause) }
            state.withLock { $0.received += Int64(piece.count) }
            return HTTPBody.Chunk(piece)
        } catch {
            finish(.failure(error))
            throw error
        }
    }

    /// Ends a body that there is not, before anyone reads it.
    func endAtOnce() { finish(.success(())) }

    func cancel() { finish(.failure(CancellationError())) }

    func limit(toRemaining total: Duration) { state.withLock { $0.timeouts?.limit(toRemaining: total) } }

    /// What is there immediately needs no clock to end in time.
    var heedsLimit: Bool {
        switch ending {
        case .complete, .error: pause == nil || state.withLock { $0.timeouts != nil }
        case .silence: state.withLock { $0.timeouts != nil }
        }
    }

    func performBlocking<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try work()
    }

    var trailerFields: HTTPFields? { nil }

    private func takePiece() -> [UInt8]? { state.withLock { $0.pieces.isEmpty ? nil : $0.pieces.removeFirst() } }

    private nonisolated(nonsending) func end() async throws -> HTTPBody.Chunk? {
        switch ending {
        case .complete:
            let received = state.withLock { $0.received }
            if let expected, received != expected { throw Self.contradiction(received, expected) }
            finish(.success(()))
            return nil
        case .error(let error): throw error
        case .silence:
            try await wait { throw await StubTransport.untilCancelled() }
            throw CancellationError()  // not reached
        }
    }

    private nonisolated(nonsending) func wait(_ work: @escaping @Sendable () async throws -> Void) async throws {
        guard let timeouts = state.withLock({ $0.timeouts }) else { return try await work() }
        try await timeouts.piece(work)
    }

    /// The error of a real transport if a server sends less. It would not read more than expected: then the test is
    /// wrong.
    private static func contradiction(_ received: Int64, _ expected: Int64) -> HTTPClientError {
        let isShort = received < expected
        return HTTPClientError(
            isShort ? .truncated : .invalidFraming, phase: .body, requestDisposition: .responseStarted,
            message: "the stub's pieces have \(received) bytes, and Content-Length says \(expected); "
                + (isShort ? "a server whose connection breaks does that" : "give pieces and length that agree"))
    }

    private func finish(_ result: Result<Void, any Error>) {
        let received: Int64? = state.withLock { state in
            guard state.result == nil else { return nil }
            state.result = result
            return state.received
        }
        if let received { tell(received, result) }
    }
}
