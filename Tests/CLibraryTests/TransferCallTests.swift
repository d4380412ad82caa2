// SPDX-License-Identifier: Apache-2.0
import CUplink
import TestSupport
import Testing
import UplinkCore

@testable import UplinkC

/// A transfer of the C library from a server on this host, whose callbacks the test dispatches.
///
/// Cancelling marks a call, and only then tells its task. What happens between the two is told as a cancellation too.
@Suite(.timeLimit(.minutes(1)))
struct TransferCallTests {
    /// What the callbacks were told.
    private final class Told: Sendable {
        struct State {
            var pieces = 0
            var received: Int64 = 0
            var end: CInt?
        }

        let state = Locked(State())
        /// Whether the body callback asks for a pause at a piece.
        let pauses: Bool

        init(pauses: Bool) { self.pauses = pauses }

        static func of(_ user: UnsafeMutableRawPointer?) -> Told? {
            user.map { Unmanaged<Told>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    private let server: RawServer
    private let context: Context

    init() throws {
        var options = try ContextOptions(nil)
        options.dispatches = true
        context = try Context(options)
        server = try RawServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), .loop])
    }

    private func call(telling told: Told) throws -> TransferCall {
        TransferCall(
            try Transfer(server.url(), nil),
            to: .stream { _, _, _, _, count, user in
                guard let told = Told.of(user) else { return 0 }
                told.state.withLock { state in
                    state.pieces += 1
                    state.received += Int64(count)
                }
                return told.pauses && count > 0 ? 1 : 0
            },
            { _, _, result, user in Told.of(user)?.state.withLock { $0.end = result?.pointee.status } },
            UserPointer(Unmanaged.passUnretained(told).toOpaque()))
    }

    private func dispatch(until expectation: String, _ isSo: () -> Bool) async throws {
        try await eventually(expectation) {
            _ = context.queue.dispatch()
            return isSo()
        }
    }

    private func end() async throws {
        try await offPool { [context, server] in
            #expect(context.destroy() == Status.ok)
            server.stop()
        }
    }

    @Test func aCallWhoseLastPieceIsDroppedHasNotSucceeded() async throws {
        let told = Told(pauses: false)
        let call = try call(telling: told)
        let id = try #require(context.queue.update { $0.add(call) })
        call.start(id, in: context)
        try await dispatch(until: "the head is told") { told.state.withLock { $0.pieces } == 1 }
        try await eventually("the body waits to be told") { context.queue.update { $0.waiting } == 1 }
        #expect(context.queue.update { $0.cancel(id) } != nil)
        #expect(context.queue.dispatch() == 0)
        try await dispatch(until: "the end is told") { told.state.withLock { $0.end } != nil }
        #expect(told.state.withLock { $0.end } == Status.cancelled)
        #expect(told.state.withLock { $0.received } == 0)
        try await end()
    }

    @Test func aPausedCallThatIsCancelledDoesNotGoOn() async throws {
        let told = Told(pauses: true)
        let call = try call(telling: told)
        let id = try #require(context.queue.update { $0.add(call) })
        call.start(id, in: context)
        try await dispatch(until: "the body is told") { told.state.withLock { $0.received } == 5 }
        #expect(context.queue.update { $0.cancel(id) } != nil)
        #expect(call.resume())
        try await dispatch(until: "the end is told") { told.state.withLock { $0.end } != nil }
        #expect(told.state.withLock { $0.end } == Status.cancelled)
        try await end()
    }
}
