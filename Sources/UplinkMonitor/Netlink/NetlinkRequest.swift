// SPDX-License-Identifier: Apache-2.0
import CNetlink
import Glibc
import UplinkCore

/// A message to the kernel.
struct NetlinkRequest {
    private(set) var bytes: [UInt8]

    init(_ type: Int, flags: Int32 = 0) {
        bytes = []
        append(UInt32(0))  // the length, set by `numbered`
        append(UInt16(type))
        append(UInt16(NLM_F_REQUEST | flags))
        append(UInt32(0))  // the sequence number, set by `numbered`
        append(UInt32(0))  // the sender's port: the kernel knows it
    }

    /// Appends a number in the host's byte order.
    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }

    /// Appends an attribute.
    mutating func append(attribute type: UInt32, _ value: some Collection<UInt8>) {
        append(UInt16(4 + value.count))
        append(UInt16(type))
        bytes.append(contentsOf: value)
        while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
    }

    /// Appends an attribute that is a number.
    mutating func append(attribute type: UInt32, _ number: UInt32) {
        append(attribute: type, withUnsafeBytes(of: number) { Array($0) })
    }

    /// The message as it is sent.
    func numbered(_ sequence: UInt32) -> [UInt8] {
        var message = bytes
        message.withUnsafeMutableBytes {
            $0.storeBytes(of: UInt32($0.count), toByteOffset: 0, as: UInt32.self)
            $0.storeBytes(of: sequence, toByteOffset: 8, as: UInt32.self)
        }
        return message
    }
}

extension NetlinkRequest {
    /// One link, or all of them; without their counters.
    static func links(index: UInt32? = nil) -> Self {
        var request = Self(Int(RTM_GETLINK), flags: index == nil ? NLM_F_ROOT | NLM_F_MATCH : 0)
        request.append(UInt32(AF_UNSPEC))  // family and hardware type
        request.append(index ?? 0)
        request.append(UInt32(0))
        request.append(UInt32(0))
        request.append(attribute: UInt32(IFLA_EXT_MASK), UInt32(RTEXT_FILTER_SKIP_STATS))
        return request
    }

    /// All addresses of both families.
    static var addresses: Self {
        var request = Self(Int(RTM_GETADDR), flags: NLM_F_ROOT | NLM_F_MATCH)
        request.append(UInt32(AF_UNSPEC))  // family, prefix length, flags, scope
        request.append(UInt32(0))
        return request
    }

    /// The way that a packet to `destination` would take.
    static func route(to destination: IPAddress) -> Self {
        route(to: destination, flags: RTM_F_LOOKUP_TABLE)
    }

    /// The entry of the routing table that leads to `destination`, which alone tells when it expires.
    static func tableEntry(for destination: IPAddress) -> Self { route(to: destination, flags: RTM_F_FIB_MATCH) }

    /// The entry that leads to `destination` through one interface, if there is one. (Asked for the route instead of the
    /// entry, IPv4 would invent one on the link.)
    static func tableEntry(for destination: IPAddress, through interface: UInt32) -> Self {
        var request = tableEntry(for: destination)
        request.append(attribute: RTA_OIF.rawValue, interface)
        return request
    }

    private static func route(to destination: IPAddress, flags: Int32) -> Self {
        var request = Self(Int(RTM_GETROUTE))
        request.append(destination.family.kernel)
        request.append(UInt8(destination.bytes.count * 8))
        for _ in 0..<6 { request.append(UInt8(0)) }  // source length, TOS, table, protocol, scope, type
        request.append(UInt32(flags))
        request.append(attribute: RTA_DST.rawValue, destination.bytes)
        return request
    }
}

extension IPAddress.Family {
    /// The kernel's number for the family, or nil for another one.
    init?(kernel family: UInt8) {
        switch Int32(family) {
        case AF_INET: self = .ipv4
        case AF_INET6: self = .ipv6
        default: return nil
        }
    }

    /// The kernel's number for the family.
    var kernel: UInt8 {
        switch self {
        case .ipv4: UInt8(AF_INET)
        case .ipv6: UInt8(AF_INET6)
        }
    }
}
