// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a router tells its links (RFC 4861): that it is one, and which prefix hosts may take addresses from.
struct RouterAdvertisement {
    /// For how many seconds hosts may use the router by default; 0 takes it back.
    let lifetime: UInt16
    /// Whether hosts should prefer it to others (RFC 4191).
    var isPreferred = false
    /// The router's address; nil for the interface's own.
    var source: String?

    /// Sends it to all hosts on a link of the calling thread's network namespace.
    func send(from interface: UInt32) -> Bool {
        let descriptor = socket(AF_INET6, CInt(SOCK_RAW.rawValue), CInt(IPPROTO_ICMPV6))
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var hops: CInt = 255  // hosts believe nothing that was forwarded
        setsockopt(descriptor, CInt(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, &hops, socklen_t(MemoryLayout<CInt>.size))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        inet_pton(AF_INET6, "ff02::1", &address.sin6_addr)
        address.sin6_scope_id = interface
        let message = bytes
        if let source {
            var own = address
            inet_pton(AF_INET6, source, &own.sin6_addr)
            let isBound = withUnsafePointer(to: &own) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
            guard isBound == 0 else { return false }
        }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        } == message.count
    }

    private var bytes: [UInt8] {
        let header: [UInt8] = [134, 0, 0, 0, 64, isPreferred ? 0x08 : 0, UInt8(lifetime >> 8), UInt8(lifetime & 0xFF)]
        let timers = [UInt8](repeating: 0, count: 8)
        let prefixOption: [UInt8] = [3, 4, 64, 0xC0, 0, 0, 0x0E, 0x10, 0, 0, 0x0E, 0x10, 0, 0, 0, 0]
        let prefix: [UInt8] = [0x20, 0x01, 0x0D, 0xB8, 0, 1] + [UInt8](repeating: 0, count: 10)
        return header + timers + prefixOption + prefix
    }
}
