// SPDX-License-Identifier: Apache-2.0
import CLibCurl  // with the types of sockets, which Glibc alone does not always show
import Glibc
import UplinkCore

/// The addresses of this host.
enum LocalAddress {
    /// Whether the host no longer has this address: whether no socket can be bound to it.
    static func isGone(_ address: IPAddress) -> Bool {
        ask(about: address, port: 0) { socket, name in
            name.withSockaddr { bind(socket, $0, $1) } != 0 && errno == EADDRNOTAVAIL
        } ?? false
    }

    /// Whether packets to this address stay on this host: the kernel then sends them from the address itself. Nil if
    /// there is no descriptor to ask with; `errno` says why.
    static func isOurs(_ address: IPAddress) -> Bool? {
        ask(about: address, port: 9) { socket, name in
            name.withSockaddr { connect(socket, $0, $1) } == 0
                && SocketIdentity(of: socket).localAddress == address
        }
    }

    /// Asks the kernel with a datagram socket, which sends nothing. Nil if there is no descriptor for one.
    private static func ask(
        about address: IPAddress, port: UInt16, _ question: (CInt, inout SocketAddress) -> Bool
    ) -> Bool? {
        let family = address.family == .ipv4 ? AF_INET : AF_INET6
        let descriptor = socket(family, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var name = SocketAddress(address, port: port)
        return question(descriptor, &name)
    }
}
