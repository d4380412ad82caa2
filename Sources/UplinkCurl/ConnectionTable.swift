// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// A socket beyond its number, which may be another one's at any time: with the kernel's cookie for it.
struct SocketIdentity: Hashable {
    let descriptor: CInt
    let cookie: UInt64

    /// The socket that has this number now.
    init(of descriptor: CInt) { (self.descriptor, cookie) = (descriptor, Self.cookie(of: descriptor)) }

    /// Whether the number is still this socket's.
    var isCurrent: Bool { cookie != 0 && Self.cookie(of: descriptor) == cookie }

    /// The socket's own address; nil where it is not of the internet's families.
    var localAddress: IPAddress? { address(getsockname) }

    /// Whether the connection stands.
    var isConnected: Bool { isCurrent && address(getpeername) != nil }

    /// The socket's own port; nil as for the address.
    var localPort: CInt? {
        var name = SocketAddress.unspecified
        var length = SocketAddress.size
        guard name.withMutableSockaddr({ getsockname(descriptor, $0, &length) }) == 0 else { return nil }
        return name.port.map(CInt.init)
    }

    private func address(
        _ ask: (CInt, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> CInt
    ) -> IPAddress? {
        var name = SocketAddress.unspecified
        var length = SocketAddress.size
        guard name.withMutableSockaddr({ ask(descriptor, $0, &length) }) == 0 else { return nil }
        return name.address(of: .ipv4) ?? name.address(of: .ipv6)
    }

    private static func cookie(of descriptor: CInt) -> UInt64 {
        var cookie: UInt64 = 0
        var length = socklen_t(MemoryLayout<UInt64>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 ? cookie : 0
    }
}

/// The sockets that have been opened for connections, idle ones included. Some may be closed by now: libcurl does not
/// tell of all, so each is looked at before anything is done to it. The loop's thread only.
final class ConnectionTable {
    private struct Entry {
        let identity: SocketIdentity
        var uses = 0
    }

    /// By number, so that there are never more than the process has descriptors.
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

    /// Lets what was sent before be unacknowledged for no longer than this, but for what stays within this host.
    func hurry(to milliseconds: CInt, sparing spared: Set<CInt> = []) {
        for socket in current() where !spared.contains(socket.descriptor) {
            guard let address = socket.localAddress, !address.isLoopback else { continue }
            Self.limit(socket.descriptor, to: milliseconds)
        }
    }

    /// An exchange on this connection is over. After so many, the connection is not used again.
    ///
    /// - Parameter isFree: Nobody has it. libcurl may have given it to the next one already, who is not to be cut off.
    func used(_ descriptor: CInt, atMost maximum: Int, isFree: Bool) {
        guard var entry = entries[descriptor], entry.identity.isCurrent else { return }
        entry.uses += 1
        entries[descriptor] = entry
        if isFree, entry.uses >= maximum { shutdown(descriptor, CInt(SHUT_RDWR)) }  // libcurl sees that it is dead
    }

    /// Ends an idle connection whose other end has closed it or says something unasked, which would be taken for the answer
    /// to the next request.
    ///
    /// libcurl looks at a connection before it uses it again, and takes one that has something to read for alive (7.88:
    /// also a TLS alert that says the opposite). It finds the end when all has been read, and after a shutdown nothing
    /// more comes in.
    static func discard(_ descriptor: CInt) {
        shutdown(descriptor, CInt(SHUT_RDWR))
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { buffer in
            while recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT)) > 0 {}
        }
    }

    /// Whether something has come that libcurl has not read; not so where the other end has closed the connection.
    static func hasUnreadBytes(_ descriptor: CInt) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT)) == 1
    }

    /// Notices a peer that vanished, though keep-alive would wait longer (`TCP_USER_TIMEOUT`, tcp(7)).
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

/// The addresses that this host has.
enum LocalAddress {
    /// Whether the host has this address no more: whether a socket may not be bound to it.
    static func isGone(_ address: IPAddress) -> Bool {
        let family = address.family == .ipv4 ? AF_INET : AF_INET6
        let descriptor = socket(family, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var name = SocketAddress(address, port: 0)
        return name.withSockaddr { bind(descriptor, $0, $1) } != 0 && errno == EADDRNOTAVAIL
    }

    /// Whether packets to this address stay on this host: the kernel sends them from the address itself.
    static func isOurs(_ address: IPAddress) -> Bool {
        let family = address.family == .ipv4 ? AF_INET : AF_INET6
        let descriptor = socket(family, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var name = SocketAddress(address, port: 9)
        return name.withSockaddr { connect(descriptor, $0, $1) } == 0
            && SocketIdentity(of: descriptor).localAddress == address
    }
}
