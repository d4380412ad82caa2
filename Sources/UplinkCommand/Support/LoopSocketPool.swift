// SPDX-License-Identifier: Apache-2.0
import FlyingFox
import FlyingSocks
import Glibc
import UplinkEventLoop

/// Waits for the sockets of a FlyingFox server on the event loop.
///
/// FlyingFox's own pool has a mutex for each wait and destroys it at its end, while the thread that cancels the task
/// may still hold it; ThreadSanitizer reports that whenever a server ends.
actor LoopSocketPool: AsyncSocketPool, LoopActor {
    nonisolated let eventLoop = EventLoop.shared
    /// An element when the server listens; the stream ends when the server has ended.
    nonisolated let listening: AsyncStream<Void>
    private nonisolated let listens: AsyncStream<Void>.Continuation
    private var waits: [UInt64: Wait] = [:]
    private var nextID: UInt64 = 0

    private struct Wait {
        let watcher: DescriptorWatcher
        let continuation: CheckedContinuation<Void, any Error>
    }

    init() { (listening, listens) = AsyncStream.makeStream() }

    func prepare() {}

    /// Runs until the task is cancelled; the server listens from now on.
    func run() async throws {
        listens.yield()
        try await Task.sleep(for: .seconds(1_000_000_000))
    }

    /// Signals that the server has ended, or never began.
    nonisolated func end() { listens.finish() }

    /// Returns when the socket is ready. Only one wait per socket at a time, which is all that plain HTTP needs.
    ///
    /// - Throws: `SocketError` when it has failed, `CancellationError`.
    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        Self.closeOnExec(socket)
        Self.sendAtOnce(socket)
        let id = nextID
        nextID += 1
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                begin(id, socket.file.rawValue, events, continuation)
            }
        } onCancel: {
            // This comes after `begin`, however early the task was cancelled, because this actor does not suspend
            // before it.
            eventLoop.execute { self.enter { $0.end(id, .failure(CancellationError())) } }
        }
    }

    private func begin(
        _ id: UInt64, _ descriptor: CInt, _ events: Socket.Events, _ continuation: CheckedContinuation<Void, any Error>
    ) {
        do {
            let watcher = try DescriptorWatcher(
                of: descriptor, for: self, ended: { $0.end(id, .failure(SocketError.disconnected)) }
            ) { pool, readiness in
                pool.end(id, readiness == .error ? .failure(SocketError.disconnected) : .success(()))
            }
            waits[id] = Wait(watcher: watcher, continuation: continuation)
            watcher.start(events == .read ? .readable : events == .write ? .writable : .both)
        } catch {
            continuation.resume(throwing: error)
        }
    }

    private func end(_ id: UInt64, _ outcome: Result<Void, any Error>) {
        guard let wait = waits.removeValue(forKey: id) else { return }
        wait.watcher.close()
        wait.continuation.resume(with: outcome)
    }

    /// FlyingFox's sockets are not closed on exec, and a program that is started meanwhile would keep the server's port.
    private static func closeOnExec(_ socket: Socket) { _ = fcntl(socket.file.rawValue, F_SETFD, FD_CLOEXEC) }

    /// Sends without delay. A server writes the head and the body of an answer one after the other, and the body should
    /// not wait for the client to acknowledge the head, which takes 40 ms (tcp(7), `TCP_NODELAY`). Connections inherit
    /// this from the listening socket.
    private static func sendAtOnce(_ socket: Socket) {
        var isOn: CInt = 1
        setsockopt(socket.file.rawValue, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<CInt>.size))
    }
}
