// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import UplinkCore

/// A socket that listens, a thread that accepts, and a thread for each connection: what the test servers share.
final class Listener: Sendable {
    /// The port; zero for a socket in the file system.
    let port: UInt16
    private let descriptor: CInt
    private let state = Locked(State())

    private struct State {
        var descriptors: Set<CInt> = []
        var threads: [PlainThread] = []
    }

    /// Listens on the loopback network.
    init(address: String = "127.0.0.1", port: UInt16 = 0) throws {
        (descriptor, self.port) = try LoopbackSocket.listen(backlog: 128, address: address, port: port)
    }

    /// Listens in the file system.
    init(at path: FilePath) throws { (descriptor, port) = (try LoopbackSocket.listen(at: path), 0) }

    /// Begins to accept, once.
    ///
    /// - Parameter accepted: Called for one connection after the other. What it returns is run on the connection's
    ///   thread; the connection is closed afterwards.
    func start(_ accepted: @escaping @Sendable (_ connection: CInt) -> @Sendable () -> Void) {
        spawn { [unowned self] in
            while let connection = self.accept() {
                let serve = accepted(connection)
                self.state.withLock { _ = $0.descriptors.insert(connection) }
                self.spawn { [unowned self] in
                    serve()
                    self.release(connection)
                }
            }
        }
    }

    /// Runs work with a connection to another server, which ``stop()`` ends too, and closes that connection.
    func holding(_ connection: CInt, _ work: () -> Void) {
        state.withLock { _ = $0.descriptors.insert(connection) }
        defer { release(connection) }
        work()
    }

    /// Ends everything, and waits for the threads. Call it once.
    func stop() {
        shutdown(descriptor, CInt(SHUT_RDWR))
        state.withLock { $0.threads.first }?.join()
        close(descriptor)
        let threads = state.withLock { state in
            // With the lock held, lest a number be closed meanwhile and be another test's.
            for descriptor in state.descriptors { shutdown(descriptor, CInt(SHUT_RDWR)) }
            return state.threads.dropFirst()
        }
        for thread in threads { thread.join() }
    }

    private func accept() -> CInt? {
        while true {
            let connection = Glibc.accept(descriptor, nil, nil)
            if connection < 0, errno == EINTR { continue }
            guard connection >= 0 else { return nil }
            // A program that another test starts would keep the connection open.
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            return connection
        }
    }

    private func release(_ connection: CInt) {
        state.withLock { _ = $0.descriptors.remove(connection) }
        close(connection)
    }

    private func spawn(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.threads.append(PlainThread(body)) }
    }
}
