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

    /// The route that packets would take. (If an interface is given, IPv4 invents a route on its link where there is
    /// none.)
    static func route(of flow: Flow) -> Self { route(of: flow, flags: RTM_F_LOOKUP_TABLE) }

    /// The entry of the routing table that packets would match, if there is one. It contains a metric and when the
    /// route expires. (Without the second flag, an IPv4 entry would always claim to be in the main table.)
    static func tableEntry(of flow: Flow) -> Self { route(of: flow, flags: RTM_F_FIB_MATCH | RTM_F_LOOKUP_TABLE) }

    /// All policy rules of a family.
    static func rules(of family: IPAddress.Family) -> Self {
        var request = Self(Int(RTM_GETRULE), flags: NLM_F_ROOT | NLM_F_MATCH)
        request.append(family.kernel)
        for _ in 0..<7 { request.append(UInt8(0)) }  // lengths, TOS, table, reserved, action
        request.append(UInt32(0))  // flags
        return request
    }

    /// What the neighbour table says about an address on a link.
    static func neighbour(_ address: IPAddress, on interface: UInt32) -> Self {
        var request = Self(Int(RTM_GETNEIGH))
        request.append(address.family.kernel)
        for _ in 0..<3 { request.append(UInt8(0)) }
        request.append(interface)
        request.append(UInt32(0))  // state, flags, type
        request.append(attribute: UInt32(NDA_DST), address.bytes)
        return request
    }

    private static func route(of flow: Flow, flags: Int32) -> Self {
        var request = Self(Int(RTM_GETROUTE))
        let destination = flow.destination.bytes
        request.append(flow.destination.family.kernel)
        request.append(UInt8(destination.count * 8))
        request.append(UInt8((flow.source?.bytes.count ?? 0) * 8))
        for _ in 0..<5 { request.append(UInt8(0)) }  // TOS, table, protocol, scope, type
        request.append(UInt32(flags))
        request.append(attribute: RTA_DST.rawValue, destination)
        if let source = flow.source { request.append(attribute: RTA_SRC.rawValue, source.bytes) }
        if let interface = flow.interface { request.append(attribute: RTA_OIF.rawValue, interface) }
        if let mark = flow.mark { request.append(attribute: RTA_MARK.rawValue, mark) }
        if let user = flow.userToName() { request.append(attribute: RTA_UID.rawValue, user) }
        request.append(attribute: RTA_IP_PROTO.rawValue, CollectionOfOne(flow.transport.rawValue))
        return request
    }
}

extension IPAddress.Family {
    /// Makes a family from the kernel's number; nil for any other family.
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
