// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// The sockets that were opened for connections, idle ones included. Some may be closed by now, because libcurl does
/// not report every closing, so each is checked before anything is done to it. Only for the loop's thread.
final class ConnectionTable {
    private struct Entry {
        let identity: SocketIdentity
        var uses = 0
    }

    /// By number, so that there are never more entries than the process has descriptors.
    private var entries: [CInt: Entry] = [:]

    func opened(_ descriptor: CInt) -> SocketIdentity {
        let identity = SocketIdentity(of: descriptor)
        entries[descriptor] = Entry(identity: identity)
        return identity
    }

    /// Ends the connections whose local address is gone, so that none of them is used again.
    func shutDown(where isGone: (IPAddress) -> Bool) {
        for socket in current() where socket.isConnected {
            guard let address = socket.localAddress, isGone(address) else { continue }
            shutdown(socket.descriptor, CInt(SHUT_RDWR))
        }
    }

    /// Limits how long data already sent may stay unacknowledged, except on connections within this host.
    func limitUnacknowledged(to milliseconds: CInt, sparing spared: Set<CInt> = []) {
        for socket in current() where !spared.contains(socket.descriptor) {
            guard let address = socket.localAddress, !address.isLoopback else { continue }
            Self.limit(socket.descriptor, to: milliseconds)
        }
    }

    /// Limits that time for one connection; zero is for the system's rules.
    func limitUnacknowledged(on descriptor: CInt, to milliseconds: CInt) {
        if entries[descriptor]?.identity.isCurrent == true { Self.limit(descriptor, to: milliseconds) }
    }

    /// Records that an exchange on this connection is over. After `maximum` of them the connection is not used again.
    ///
    /// - Parameter isFree: Whether no transfer has the connection. libcurl may have given it to the next one already,
    ///   which must not be cut off.
    func used(_ descriptor: CInt, atMost maximum: Int, isFree: Bool) {
        guard var entry = entries[descriptor], entry.identity.isCurrent else { return }
        entry.uses += 1
        entries[descriptor] = entry
        if isFree, entry.uses >= maximum { shutdown(descriptor, CInt(SHUT_RDWR)) }  // libcurl sees that it is dead
    }

    /// Ends an idle connection whose other end has closed it, or has sent something unasked, which would be taken for
    /// the answer to the next request.
    ///
    /// libcurl checks a connection before it uses it again, and takes one with something to read for alive (7.88: even
    /// if that is a TLS alert that says the opposite). It finds the end when everything has been read, and after a
    /// shutdown nothing more comes in.
    static func discard(_ descriptor: CInt) {
        shutdown(descriptor, CInt(SHUT_RDWR))
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { buffer in
            while recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT)) > 0 {}
        }
    }

    /// Whether anything is to be read: bytes, an end or an error. (recv(2) would take the error away, even if it only
    /// looks.)
    static func hasNews(_ descriptor: CInt) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) != 0
    }

    /// Those of which ``hasNews(_:)`` is true.
    static func withNews(_ descriptors: [CInt]) -> [CInt] {
        var requests = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&requests, nfds_t(requests.count), 0) > 0 else { return [] }
        return requests.filter { $0.revents != 0 }.map(\.fd)
    }

    /// Whether there are bytes that libcurl has not read; false if the other end has closed the connection.
    static func hasUnreadBytes(_ descriptor: CInt) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT)) == 1
    }

    /// Limits how long a vanished peer can go unnoticed, where keep-alive would wait longer (`TCP_USER_TIMEOUT`,
    /// tcp(7)).
    static func limit(_ descriptor: CInt, to milliseconds: CInt) {
        var milliseconds = milliseconds
        setsockopt(
            descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, socklen_t(MemoryLayout<CInt>.size))
    }

    private func current() -> [SocketIdentity] {
        entries = entries.filter { $0.value.identity.isCurrent }
        return entries.values.map(\.identity)
    }
}
