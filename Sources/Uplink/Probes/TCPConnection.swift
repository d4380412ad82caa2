// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
import UplinkEventLoop

/// One attempt to connect, on the loop: a non-blocking `connect(2)` that a task waits for.
actor TCPConnection: LoopActor {
    nonisolated let eventLoop: EventLoop
    private var descriptor: CInt = -1
    private var watcher: DescriptorWatcher?
    private var waiter: CheckedContinuation<Void, Never>?
    /// The error number, zero for success; nil while the attempt is under way.
    private var outcome: CInt?

    /// Connects, and closes the connection again.
    ///
    /// - Throws: ``ProbeFailure`` when there is no connection, `CancellationError` when the task is cancelled.
    static func attempt(to address: IPAddress, port: UInt16, on loop: EventLoop) async throws {
        let connection = TCPConnection(on: loop)
        let errno = await withTaskCancellationHandler {
            await connection.run(to: address, port)
        } onCancel: {
            loop.execute { connection.assumeIsolated { $0.end(ECANCELED) } }
        }
        try Task.checkCancellation()
        if errno != 0 { throw ProbeFailure(String(cString: strerror(errno))) }
    }

    private init(on loop: EventLoop) { eventLoop = loop }

    private func run(to address: IPAddress, _ port: UInt16) async -> CInt {
        if outcome == nil { begin(address, port) }
        if outcome == nil { await withCheckedContinuation { waiter = $0 } }
        return outcome ?? ECANCELED
    }

    private func begin(_ address: IPAddress, _ port: UInt16) {
        let kind = CInt(bitPattern: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        descriptor = socket(address.family == .ipv4 ? AF_INET : AF_INET6, kind, 0)
        guard descriptor >= 0 else { return end(errno) }
        var name = SocketAddress(address, port: port)
        if name.withSockaddr({ connect(descriptor, $0, $1) }) == 0 { return end(0) }
        guard errno == EINPROGRESS else { return end(errno) }
        do {
            watcher = try DescriptorWatcher(of: descriptor, for: self, ended: { $0.end(ECANCELED) }) { connection, _ in
                connection.finished()
            }
            watcher?.start(.writable)
        } catch {
            end(EIO)
        }
    }

    /// Called when the kernel has an answer.
    private func finished() {
        var (error, length): (CInt, socklen_t) = (0, socklen_t(MemoryLayout<CInt>.size))
        let status = getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
        end(status == 0 ? error : errno)
    }

    private func end(_ errno: CInt) {
        watcher?.close()
        watcher = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        if outcome == nil { outcome = errno }
        waiter?.resume()
        waiter = nil
    }
}
