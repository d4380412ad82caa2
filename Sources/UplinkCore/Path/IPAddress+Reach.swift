// SPDX-License-Identifier: Apache-2.0

extension IPAddress {
    /// The IPv4 networks that are not part of the internet (RFC 6890, IANA's registry of special-purpose addresses),
    /// and the address at which Azure answers its own machines.
    private static let specialIPv4: [(IPAddress, Int)] = table([
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "168.63.129.16/32", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    ])

    /// The networks inside 2000::/3 that are not part of the internet: those of protocols (Teredo among them),
    /// documentation.
    private static let specialIPv6: [(IPAddress, Int)] = table(["2001::/23", "2001:db8::/32", "3fff::/20"])

    /// Whether the address can belong to a host on the internet, rather than to this host, a private network, a link, a
    /// group, documentation or a cloud's metadata service (169.254.169.254, Azure's 168.63.129.16).
    ///
    /// An IPv6 address that carries an IPv4 address is judged by that one: mapped (::ffff/96), 6to4 (2002::/16) and
    /// NAT64's well-known prefix (64:ff9b::/96). A translator's own prefix cannot be recognised.
    public var isOnInternet: Bool {
        if let embedded { return embedded.isOnInternet }
        switch family {
        case .ipv4: return !Self.specialIPv4.contains { sharesPrefix(ofLength: $0.1, with: $0.0) }
        case .ipv6:
            guard bytes[0] >> 5 == 1 else { return false }  // 2000::/3, all that has been allocated
            return !Self.specialIPv6.contains { sharesPrefix(ofLength: $0.1, with: $0.0) }
        }
    }

    /// The IPv4 address that packets to this IPv6 address are really for.
    package var embedded: IPAddress? {
        guard family == .ipv6 else { return nil }
        let bytes = bytes
        if bytes[0..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            return IPAddress(bytes: bytes[12..<16])
        }
        if bytes[0..<12] == [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0] { return IPAddress(bytes: bytes[12..<16]) }
        if bytes[0] == 0x20, bytes[1] == 0x02 { return IPAddress(bytes: bytes[2..<6]) }
        return nil
    }

    private static func table(_ networks: [String]) -> [(IPAddress, Int)] {
        networks.compactMap { network in
            let parts = network.split(separator: "/")
            guard parts.count == 2, let address = IPAddress(String(parts[0])), let length = Int(parts[1]) else {
                return nil
            }
            return (address, length)
        }
    }
}
