// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// A socket, identified by its number and the kernel's cookie for it, because another socket may have the number at any
/// time.
struct SocketIdentity: Hashable {
    let descriptor: CInt
    let cookie: UInt64

    /// The socket that has this number now.
    init(of descriptor: CInt) { (self.descriptor, cookie) = (descriptor, Self.cookie(of: descriptor)) }

    /// Whether the number is still this socket's.
    var isCurrent: Bool { cookie != 0 && Self.cookie(of: descriptor) == cookie }

    /// The socket's own address; nil if it is not of the internet's families.
    var localAddress: IPAddress? { address(getsockname) }

    /// Whether the connection is established.
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
