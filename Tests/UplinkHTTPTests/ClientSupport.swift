// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing
import UplinkCore
import UplinkHTTP
import UplinkTesting

/// What closures have said, from any thread.
final class Notes<Note: Sendable>: Sendable {
    private let notes = Locked<[Note]>([])

    var all: [Note] { notes.withLock { $0 } }
    func add(_ note: Note) { notes.withLock { $0.append(note) } }
}

/// Lets those who wait go on, all at once.
final class Gate: Sendable {
    private let state = Locked<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    var waiting: Int { state.withLock { $0.waiting.count } }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension HTTPClientError {
    /// The server was not reached.
    static let notSent = HTTPClientError(.connectionFailed, phase: .connect, message: "refused")
    /// Nobody knows what the server did.
    static let maybeProcessed = HTTPClientError(
        .emptyReply, phase: .firstByte, requestDisposition: .maybeProcessed, message: "closed")
}

extension HTTPClient {
    /// A client with these middlewares.
    init(_ transport: any HTTPTransport, _ middlewares: any HTTPMiddleware..., clock: ManualClock = ManualClock()) {
        var configuration = Configuration()
        configuration.middlewares = middlewares
        self.init(transport: transport, configuration: configuration, clock: clock)
    }
}

extension HTTPRetryPolicy {
    /// Always the longest pause: 250 ms, 500 ms, …
    static var longest: Self {
        var policy = Self()
        policy.random = { 1 }
        return policy
    }
}

/// The error that `body` throws.
func clientError(_ body: () async throws -> Void) async -> HTTPClientError? {
    await #expect(throws: HTTPClientError.self) { try await body() }
}
