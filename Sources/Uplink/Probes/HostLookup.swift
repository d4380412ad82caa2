// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
import UplinkEventLoop

/// The address of a host, from the system's resolver (`getaddrinfo(3)`), off the loop because it may take long.
enum HostLookup {
    static func address(of host: String, _ family: IPAddress.Family, on loop: EventLoop) async throws -> IPAddress {
        if let address = IPAddress(host) {
            guard address.family == family else { throw ProbeFailure("the address is one of the other family") }
            return address
        }
        return try await loop.besideLoop { try look(up: host, family) }
    }

    private static func look(up host: String, _ family: IPAddress.Family) throws(ProbeFailure) -> IPAddress {
        guard !host.utf8.contains(0) else { throw ProbeFailure("the host's name contains a NUL") }
        var hints = addrinfo()
        hints.ai_family = family == .ipv4 ? AF_INET : AF_INET6
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else { throw ProbeFailure(String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(list) }
        guard let entry = list?.pointee, let name = entry.ai_addr else { throw ProbeFailure("no address") }
        let bytes = UnsafeRawBufferPointer(start: name, count: Int(entry.ai_addrlen))
        let place = family == .ipv4 ? 4..<8 : 8..<24  // in sockaddr_in and sockaddr_in6
        guard bytes.count >= place.upperBound, let address = IPAddress(bytes: bytes[place]) else {
            throw ProbeFailure("no address")
        }
        return address
    }
}
