// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// A socket address (`struct sockaddr_in`, `struct sockaddr_in6`), in the storage of the larger one.
package struct SocketAddress {
    /// The size of the storage; calls that fill it get this as the length.
    package static let size = socklen_t(MemoryLayout<sockaddr_in6>.size)

    private var storage = sockaddr_in6()
    private let length: socklen_t

    /// An empty address, for `getsockname(2)` and for dissolving the association of a UDP socket.
    package static let unspecified = Self()

    private init() { length = Self.size }

    /// Makes a socket address from an address and a port.
    package init(_ address: IPAddress, port: UInt16) {
        let bytes = address.bytes
        switch address.family {
        case .ipv4:
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutableBytes(of: &storage) { storage in
                storage.storeBytes(of: sa_family_t(AF_INET), as: sa_family_t.self)
                storage.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
                storage[4..<8].copyBytes(from: bytes)
            }
        case .ipv6:
            length = Self.size
            storage.sin6_family = sa_family_t(AF_INET6)
            storage.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage.sin6_addr) { $0.copyBytes(from: bytes) }
        }
    }

    /// The address, if it is one of this family.
    package func address(of family: IPAddress.Family) -> IPAddress? {
        withUnsafeBytes(of: storage) { storage in
            let kernelFamily = storage.load(as: sa_family_t.self)
            return switch family {
            case .ipv4: kernelFamily == sa_family_t(AF_INET) ? IPAddress(bytes: storage[4..<8]) : nil
            case .ipv6: kernelFamily == sa_family_t(AF_INET6) ? IPAddress(bytes: storage[8..<24]) : nil
            }
        }
    }

    /// The port; nil if this is neither an IPv4 nor an IPv6 address.
    package var port: UInt16? {
        withUnsafeBytes(of: storage) { storage in
            let family = storage.load(as: sa_family_t.self)
            guard family == sa_family_t(AF_INET) || family == sa_family_t(AF_INET6) else { return nil }
            return UInt16(bigEndian: storage.load(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// Runs `body` with a pointer for calls that read the address.
    package mutating func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafeMutablePointer(to: &storage) { [length] storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Runs `body` with a pointer for calls that fill in the address.
    package mutating func withMutableSockaddr<Result>(_ body: (UnsafeMutablePointer<sockaddr>) -> Result) -> Result {
        withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }
}
