// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import FlyingSocks
import Glibc
import TestSupport
import Testing
import Uplink
import UplinkCore

@testable import UplinkCommand

/// What FlyingFox's servers wait with.
@Suite(.timeLimit(.minutes(1)))
struct LoopSocketPoolTests {
    private let pool = LoopSocketPool()

    /// A socket that listens on a port of its own.
    private func listener() throws -> Socket {
        let socket = try Socket(domain: AF_INET)
        try socket.bind(to: .inet(ip4: "127.0.0.1", port: 0))
        try socket.listen()
        return socket
    }

    private func sendsAtOnce(_ socket: Socket) -> Bool {
        var (isOn, size): (CInt, socklen_t) = (0, socklen_t(MemoryLayout<CInt>.size))
        return getsockopt(socket.file.rawValue, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, &size) == 0 && isOn != 0
    }

    @Test func aWaitEndsWithTheEventAndConnectionsSendAtOnce() async throws {
        let listener = try listener()
        defer { try? listener.close() }
        guard case .ip4(_, let port) = try listener.sockname() else { throw Missing("port") }
        let waiting = Task { try await pool.suspendSocket(listener, untilReadyFor: .connection) }
        try await eventually("the wait has begun") { sendsAtOnce(listener) }
        let client = try Socket(domain: AF_INET)
        defer { try? client.close() }
        try client.connect(to: .inet(ip4: "127.0.0.1", port: port))
        try await waiting.value
        let connection = Socket(file: try listener.accept().file)
        defer { try? connection.close() }
        #expect(sendsAtOnce(connection))
        #expect(!sendsAtOnce(client))
        try await pool.suspendSocket(connection, untilReadyFor: .write)
    }

    @Test(arguments: [true, false])
    func cancellingEndsAWait(early: Bool) async throws {
        let listener = try listener()
        defer { try? listener.close() }
        let waiting = Task {
            if early { while !Task.isCancelled { await Task.yield() } }
            try await pool.suspendSocket(listener, untilReadyFor: .connection)
        }
        if !early { try await eventually("the wait has begun") { sendsAtOnce(listener) } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    /// A program that is started meanwhile would keep the port.
    @Test func aSocketThatIsWaitedForIsClosedOnExec() async throws {
        let listener = try listener()
        defer { try? listener.close() }
        let isOpen = fcntl(listener.file.rawValue, F_GETFD) & FD_CLOEXEC == 0
        #expect(isOpen)
        let waiting = Task { try await pool.suspendSocket(listener, untilReadyFor: .connection) }
        try await eventually { fcntl(listener.file.rawValue, F_GETFD) & FD_CLOEXEC != 0 }
        waiting.cancel()
        _ = await waiting.result
    }

    @Test func whatCannotBeWatchedIsAnError() async {
        await #expect(throws: EventLoopError.self) {
            try await pool.suspendSocket(Socket(file: .init(rawValue: -1)), untilReadyFor: .read)
        }
    }

    @Test func aTakenPortIsAnErrorAtOnceAndAServerThatEndedLeavesItsPort() async throws {
        let handler = ClosureHTTPHandler { _ in HTTPResponse(statusCode: .ok) }
        let port = try FreePort.take()
        /// The error of a second server beside a first one; nil if the port was not free for the first.
        func second() async throws -> SocketError? {
            do {
                return try await HTTPServer.running(at: .inet(ip4: "127.0.0.1", port: port), handler) { _ in
                    do {
                        try await HTTPServer.running(at: .inet(ip4: "127.0.0.1", port: port), handler) { _ in }
                    } catch let error as SocketError {
                        return error
                    }
                    throw Missing("refusal of the port")
                }
            } catch SocketError.failed("Bind", EADDRINUSE, _) {
                return nil
            }
        }
        for _ in 0..<2 {
            var error: SocketError?
            // Programs that other tests start have all descriptors until they are executed.
            try await eventually("the port is free") {
                error = try await second()
                return error != nil
            }
            guard case .failed("Bind", EADDRINUSE, _) = error else { throw Missing("refusal of the port") }
        }
    }

    @Test func aServerWhoseTaskIsCancelledEndsWithWhatItsHandlersDo() async throws {
        let (began, ended) = (Locked(false), Locked(false))
        let handler = ClosureHTTPHandler { _ in
            began.withLock { $0 = true }
            defer { ended.withLock { $0 = true } }
            try await Task.sleep(for: .seconds(1000))
            return HTTPResponse(statusCode: .ok)
        }
        try await HTTPServer.running(at: .inet(ip4: "127.0.0.1", port: 0), handler) { address in
            let url = "http://\(try #require(address.authority))/"
            let asking = Task { try await withHTTPClient { try await $0.get(url).status.code } }
            try await eventually("the request arrives") { began.withLock { $0 } }
            asking.cancel()
            _ = await asking.result
        }
        #expect(ended.withLock { $0 })
    }
}
