// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An IPv4 or IPv6 address.
///
/// Its text form is that of RFC 5952 (`192.0.2.1`, `2001:db8::1`); scope and prefix length are not part of it.
public struct IPAddress: Sendable, Hashable {
    /// The version of the Internet Protocol that an address belongs to.
    public enum Family: String, Sendable, Hashable, CaseIterable {
        /// IPv4 (RFC 791).
        case ipv4
        /// IPv6 (RFC 8200).
        case ipv6
    }

    /// The version of the Internet Protocol that the address belongs to.
    public let family: Family

    private let high: UInt64
    private let low: UInt64

    /// Makes an address from its bytes in network order: four for IPv4, sixteen for IPv6, otherwise nil.
    public init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4:
            family = .ipv4
            high = 0
            low = bytes.reduce(0) { $0 << 8 | UInt64($1) }
        case 16:
            family = .ipv6
            high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
        default: return nil
        }
    }

    /// Parses an address in text form, or returns nil if the text is not an address (`inet_pton(3)`).
    public init?(_ text: String) {
        guard !text.utf8.contains(0) else { return nil }  // C would only see the text before it
        var (ipv4, ipv6) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &ipv4) == 1 {
            self.init(ipv4: UInt32(bigEndian: ipv4.s_addr))
        } else if inet_pton(AF_INET6, text, &ipv6) == 1 {
            self.init(bytes: withUnsafeBytes(of: ipv6) { Array($0) })
        } else {
            return nil
        }
    }

    /// The address's bytes in network order.
    public var bytes: [UInt8] {
        switch family {
        case .ipv4: (0..<4).map { UInt8(truncatingIfNeeded: low >> (24 - 8 * $0)) }
        case .ipv6: (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (56 - 8 * ($0 % 8))) }
        }
    }

    /// Makes an IPv4 address from its number.
    package init(ipv4 number: UInt32) { (family, high, low) = (.ipv4, 0, UInt64(number)) }

    /// Makes an IPv6 address from its two halves as numbers.
    package init(ipv6 high: UInt64, _ low: UInt64) { (family, self.high, self.low) = (.ipv6, high, low) }

    /// Whether the first `length` bits equal those of `other`; false if the families differ.
    package func sharesPrefix(ofLength length: Int, with other: IPAddress) -> Bool {
        guard family == other.family else { return false }
        switch family {
        case .ipv4: return (low ^ other.low) >> (32 - min(max(length, 0), 32)) == 0
        case .ipv6:
            let upper = (high ^ other.high) >> (64 - min(max(length, 0), 64))
            let lower = (low ^ other.low) >> (64 - min(max(length - 64, 0), 64))
            return upper == 0 && lower == 0
        }
    }

    /// The network that the address is in: its first `length` bits, followed by zeros.
    package func network(ofLength length: Int) -> IPAddress {
        switch family {
        case .ipv4:
            let mask = UInt64(UInt32.max) << (32 - min(max(length, 0), 32))
            return IPAddress(ipv4: UInt32(truncatingIfNeeded: low & mask))
        case .ipv6:
            return IPAddress(
                ipv6: high & .max << (64 - min(max(length, 0), 64)), low & .max << (64 - min(max(length - 64, 0), 64)))
        }
    }

    /// Whether the address is the unspecified one (`0.0.0.0`, `::`).
    public var isUnspecified: Bool { high == 0 && low == 0 }

    /// Whether the address is that of this host itself (127/8, `::1`).
    public var isLoopback: Bool {
        switch family {
        case .ipv4: low >> 24 == 127
        case .ipv6: high == 0 && low == 1
        }
    }

    /// Whether the address is that of a group of hosts or of all (224/4, ff00::/8, 255.255.255.255), or in IPv4's
    /// reserved range above the groups.
    package var isMulticast: Bool {
        switch family {
        case .ipv4: low >> 28 >= 0xE
        case .ipv6: high >> 56 == 0xFF
        }
    }

    /// Whether the address is not routed on the internet but belongs to a private network (10/8, 172.16/12, 192.168/16,
    /// fc00::/7) or to a carrier's translator (100.64/10).
    package var isPrivate: Bool {
        switch family {
        case .ipv4: low >> 24 == 10 || low >> 20 == 0xAC1 || low >> 16 == 0xC0A8 || low >> 22 == 0x191
        case .ipv6: high >> 57 == 0x7E
        }
    }

    /// Whether the address is valid on a single link only (169.254/16, fe80::/10).
    public var isLinkLocal: Bool {
        switch family {
        case .ipv4: low >> 16 == 0xA9FE
        case .ipv6: high >> 54 == 0x3FA
        }
    }
}

extension IPAddress: CustomStringConvertible {
    /// The address as text (RFC 5952).
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let length = socklen_t(text.count)
        guard inet_ntop(family == .ipv4 ? AF_INET : AF_INET6, bytes, &text, length) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
