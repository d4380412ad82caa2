// SPDX-License-Identifier: Apache-2.0
import CUplink
import TestSupport
import Testing
import UplinkCore

@testable import UplinkC

/// A transfer of the C library from a server on this host, whose callbacks the test dispatches.
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

        var user: UserPointer { UserPointer(Unmanaged.passUnretained(self).toOpaque()) }

        static func of(_ user: UnsafeMutableRawPointer?) -> Told? {
            user.map { Unmanaged<Told>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    private func call(_ url: String, telling told: Told) throws -> TransferCall {
        TransferCall(
            try Transfer(url, nil),
            to: .stream { _, _, _, _, count, user in
                Told.of(user)?.state.withLock { state in
                    state.pieces += 1
                    state.received += Int64(count)
                }
                return 0
            },
            { _, _, result, user in Told.of(user)?.state.withLock { $0.end = result?.pointee.status } }, told.user)
    }

    /// Cancelling marks a call, and only then tells its task. Callbacks that are dropped between the two were not told.
    @Test func aCallWhoseLastPieceIsDroppedHasNotSucceeded() async throws {
        let server = try RawServer([.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), .loop])
        var options = try ContextOptions(nil)
        options.dispatches = true
        let context = try Context(options)
        let told = Told()
        let call = try call(server.url(), telling: told)
        let id = try #require(context.queue.update { $0.add(call) })
        call.start(id, in: context)

        try await eventually("the head is told") {
            _ = context.queue.dispatch()
            return told.state.withLock { $0.pieces } == 1
        }
        try await eventually("the body waits to be told") { context.queue.update { $0.waiting } == 1 }
        #expect(context.queue.update { $0.cancel(id) } != nil)
        #expect(context.queue.dispatch() == 0)
        try await eventually("the end is told") {
            _ = context.queue.dispatch()
            return told.state.withLock { $0.end } != nil
        }
        #expect(told.state.withLock { $0.end } == Status.cancelled)
        #expect(told.state.withLock { $0.received } == 0)

        try await offPool { #expect(context.destroy() == Status.ok) }
        try await offPool { server.stop() }
    }
}
