// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage
import UplinkCore

/// Ends the clients' TLS before a server that knows nothing of it: with a ``TestProxy`` behind it, it is an `https` proxy,
/// with a ``RawServer`` an `https` server that follows a script.
///
/// What the server sends in one piece goes out in one piece, in as many records of TLS as it takes.
package final class TLSFront: Sendable {
    /// The port on 127.0.0.1.
    package let port: UInt16
    private let listener: CInt
    private let context: TLSContext
    private let backend: UInt16
    private let state = Locked(State())

    private struct State {
        var descriptors: Set<CInt> = []
        var threads: [PlainThread] = []
        var connections = 0
    }

    /// - Parameters:
    ///   - backend: The server's port on 127.0.0.1.
    ///   - certificates: A directory with ``Certificates``, of which `good` is shown.
    ///   - largestRecord: How many bytes a record of TLS has in it, 512 at least.
    package init(to backend: UInt16, certificates: FilePath, largestRecord: Int = 16_384) throws {
        context = try TLSContext(
            certificate: certificates.appending("good.pem"), key: certificates.appending("good.key"), largestRecord)
        self.backend = backend
        (listener, port) = try RawServer.listen(backlog: 64)
        spawn { [unowned self] in self.accept() }
    }

    /// How many connections there were so far.
    package var connections: Int { state.withLock { $0.connections } }

    /// Ends it and its threads. Call it once, at the end of the test.
    package func stop() {
        shutdown(listener, CInt(SHUT_RDWR))
        state.withLock { $0.threads.first }?.join()
        close(listener)
        let threads = state.withLock { state in
            for descriptor in state.descriptors { shutdown(descriptor, CInt(SHUT_RDWR)) }
            return state.threads.dropFirst()
        }
        for thread in threads { thread.join() }
    }

    private func spawn(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.threads.append(PlainThread(body)) }
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            if client < 0, errno == EINTR { continue }
            guard client >= 0 else { return }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            state.withLock { state in
                state.descriptors.insert(client)
                state.connections += 1
            }
            spawn { [unowned self] in
                if let server = RawServer.connect(to: self.backend) { self.relay(client, server) }
                self.forget(client)
            }
        }
    }

    private func forget(_ descriptor: CInt) {
        state.withLock { _ = $0.descriptors.remove(descriptor) }
        close(descriptor)
    }

    private func relay(_ client: CInt, _ server: CInt) {
        state.withLock { _ = $0.descriptors.insert(server) }
        defer { forget(server) }
        let session = TLSSession(context)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            var polls = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&polls, 2, -1) > 0 else { return }
            if polls[0].revents != 0 {
                let count = recv(client, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                let isOpen = session.take(buffer[..<count]) { send($0, to: server) }
                guard send(session.outgoing, to: client), isOpen else { return }
            }
            if polls[1].revents != 0 {
                let count = recv(server, &buffer, buffer.count, 0)
                if count > 0 { session.give(buffer[..<count]) } else { session.end() }
                guard send(session.outgoing, to: client), count > 0 else { return }
            }
        }
    }

    @discardableResult
    private func send(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress?.advanced(by: sent), $0.count - sent, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
