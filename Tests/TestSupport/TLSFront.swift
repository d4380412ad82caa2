// SPDX-License-Identifier: Apache-2.0
import Glibc
package import SystemPackage
import UplinkCore

/// Ends the clients' TLS before a server that knows nothing of it: with a ``TestProxy`` behind it, it is an `https`
/// proxy, with a ``RawServer`` an `https` server that follows a script.
///
/// What the server sends in one piece goes out in one piece, in as many records of TLS as it takes.
package final class TLSFront: Sendable {
    /// The port on 127.0.0.1.
    package var port: UInt16 { listener.port }
    private let listener: Listener
    private let context: TLSContext
    private let givesLateTickets: Bool
    private let count = Locked(0)

    /// - Parameters:
    ///   - backend: The server's port on 127.0.0.1.
    ///   - certificates: A directory with ``Certificates``, of which `good` is shown.
    ///   - largestRecord: How many bytes a record of TLS has in it, 512 at least.
    ///   - tickets: How many tickets each client gets, all at once after the handshake.
    ///   - givesLateTickets: Whether another one comes with each piece, right before it.
    package init(
        to backend: UInt16, certificates: FilePath, largestRecord: Int = 16_384, tickets: Int = 2,
        givesLateTickets: Bool = false
    ) throws {
        self.givesLateTickets = givesLateTickets
        context = try TLSContext(
            certificate: certificates.appending("good.pem"), key: certificates.appending("good.key"), largestRecord,
            tickets: tickets)
        listener = try Listener()
        listener.start { [unowned self] client in
            self.count.withLock { $0 += 1 }
            return { [unowned self] in
                if let server = LoopbackSocket.connect(to: backend) { self.relay(client, server) }
            }
        }
    }

    /// How many connections there were so far.
    package var connections: Int { count.withLock { $0 } }

    /// Ends it and its threads. Call it once, at the end of the test.
    package func stop() { listener.stop() }

    private func relay(_ client: CInt, _ server: CInt) {
        listener.holding(server) { exchange(client, server) }
    }

    private func exchange(_ client: CInt, _ server: CInt) {
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
                let isOpen = session.take(buffer[..<count]) { LoopbackSocket.send($0, to: server) }
                guard LoopbackSocket.send(session.outgoing, to: client), isOpen else { return }
            }
            if polls[1].revents != 0 {
                let count = recv(server, &buffer, buffer.count, 0)
                if count > 0, givesLateTickets { session.addTicket() }
                if count > 0 { session.give(buffer[..<count]) } else { session.end() }
                guard LoopbackSocket.send(session.outgoing, to: client), count > 0 else { return }
            }
        }
    }
}
