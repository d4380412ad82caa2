// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Parses the tables of `/proc/net`. Pure; lines that make no sense are skipped.
enum HostTables {
    /// A route. Of IPv4, only the main table is shown here; of IPv6, all tables are, without their numbers.
    struct Route: Equatable {
        var destination: IPAddress
        var prefixLength: UInt8
        /// The prefix of the only sources whose packets take it (`default from PREFIX`, IPv6).
        var source: IPAddress?
        var sourceLength: UInt8 = 0
        var gateway: IPAddress?
        var metric: UInt32
        var interface: String
    }

    private static let (up, reject): (UInt32, UInt32) = (0x1, 0x200)  // RTF_UP, RTF_REJECT

    /// The names in `dev`: the text before the colon, after two heading lines.
    static func interfaceNames(_ text: String) -> [String] {
        text.split(separator: "\n").dropFirst(2).compactMap { line in
            line.lastIndex(of: ":").map { line[..<$0].drop { $0 == " " } }.map(String.init)
        }
    }

    /// `route`: interface, destination, gateway, flags, …, metric, mask; numbers in the host's byte order.
    static func ipv4Routes(_ text: String) -> [Route] {
        text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split { $0 == "\t" || $0 == " " }
            guard fields.count >= 8, let destination = ipv4(fields[1]), let gateway = ipv4(fields[2]),
                let flags = UInt32(fields[3], radix: 16), isUsable(flags), let metric = metric(fields[6]),
                let mask = ipv4(fields[7])
            else { return nil }
            return Route(
                destination: destination, prefixLength: UInt8(mask.bytes.reduce(0) { $0 + $1.nonzeroBitCount }),
                gateway: gateway.isUnspecified ? nil : gateway, metric: metric, interface: String(fields[0]))
        }
    }

    /// The kernel prints it as a signed number.
    private static func metric(_ text: Substring) -> UInt32? {
        UInt32(text) ?? Int32(text).map { UInt32(bitPattern: $0) }
    }

    /// `ipv6_route`: destination, its length, source, its length, gateway, metric, …, flags, interface; in hexadecimal.
    static func ipv6Routes(_ text: String) -> [Route] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count >= 10, let destination = ipv6(fields[0]), let length = UInt8(fields[1], radix: 16),
                let source = ipv6(fields[2]), let sourceLength = UInt8(fields[3], radix: 16),
                let gateway = ipv6(fields[4]), let metric = UInt32(fields[5], radix: 16),
                let flags = UInt32(fields[8], radix: 16), isUsable(flags)
            else { return nil }
            return Route(
                destination: destination, prefixLength: length, source: source, sourceLength: sourceLength,
                gateway: gateway.isUnspecified ? nil : gateway, metric: metric, interface: String(fields[9]))
        }
    }

    /// `if_inet6`: address, index, length of the prefix, scope, flags, interface; in hexadecimal.
    static func ipv6Addresses(_ text: String) -> [AddressRecord] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count >= 6, let address = ipv6(fields[0]), let index = UInt32(fields[1], radix: 16),
                let length = UInt8(fields[2], radix: 16), let flags = UInt32(fields[4], radix: 16)
            else { return nil }
            return AddressRecord(
                index: index, address: address, prefixLength: length, flags: AddressRecord.Flags(rawValue: flags))
        }
    }

    private static func isUsable(_ flags: UInt32) -> Bool { flags & up != 0 && flags & reject == 0 }

    private static func ipv4(_ field: Substring) -> IPAddress? {
        guard field.utf8.count == 8, let number = UInt32(field, radix: 16) else { return nil }
        return IPAddress(bytes: withUnsafeBytes(of: number) { Array($0) })
    }

    private static func ipv6(_ field: Substring) -> IPAddress? {
        guard field.utf8.count == 32 else { return nil }
        var (bytes, rest) = ([UInt8](), field)
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return IPAddress(bytes: bytes)
    }
}
