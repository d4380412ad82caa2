// SPDX-License-Identifier: Apache-2.0
import CNetlink
import UplinkCore

/// A route (`RTM_NEWROUTE`), as an event or as the kernel's answer to `RTM_GETROUTE`.
struct RouteRecord: Equatable {
    /// The kind of a route (`rtm_type`).
    enum Kind: Equatable {
        /// Packets leave, through a gateway or directly on a link.
        case unicast
        /// Packets are dropped or refused: `blackhole`, `unreachable`, `prohibit`.
        case blocking
        /// Packets are for this host.
        case local
        /// Packets go to many.
        case other
    }

    var family: IPAddress.Family
    var kind: Kind
    var destination: IPAddress?
    var prefixLength: UInt8
    var table: UInt32
    var interfaceIndex: UInt32?
    var gateway: IPAddress?
    /// The source address that the kernel would choose.
    var source: IPAddress?
    /// The metric; the lowest wins.
    var metric: UInt32 = 0
    /// How long the route remains valid; nil if it does not expire or the kernel was not asked for the table's entry.
    var lifetime: Duration?

    /// Whether a change of this route may change what the kernel says about an address.
    func covers(_ address: IPAddress) -> Bool {
        guard address.family == family else { return false }
        guard prefixLength > 0 else { return true }
        guard let destination else { return false }
        return destination.sharesPrefix(ofLength: Int(prefixLength), with: address)
    }

    /// The router that packets go to first.
    var nextHop: Neighbour? {
        guard let gateway, let interfaceIndex else { return nil }
        return Neighbour(address: gateway, interfaceIndex: interfaceIndex)
    }

    /// Whether the kernel switches by itself from this table entry to another one when this one's router does not
    /// answer. IPv4 does so for default routes of equal metric only, and not between the legs of one route (which name
    /// no interface here); IPv6 also turns to a larger metric.
    func mayGiveWay(to other: Self) -> Bool {
        guard family == other.family, table == other.table, prefixLength == other.prefixLength else { return false }
        switch family {
        case .ipv4:
            return prefixLength == 0 && metric == other.metric && interfaceIndex != nil && other.interfaceIndex != nil
        case .ipv6: return metric <= other.metric
        }
    }
}

extension RouteRecord {
    static let headerSize = 12  // struct rtmsg

    /// Parses the message after its header; nil if it is of a family other than IPv4 and IPv6.
    init?(_ payload: RawSpan) {
        guard let family = payload.integer(at: 0, as: UInt8.self).flatMap(IPAddress.Family.init(kernel:)),
            let prefixLength = payload.integer(at: 1, as: UInt8.self),
            let table = payload.integer(at: 4, as: UInt8.self),
            let type = payload.integer(at: 7, as: UInt8.self),
            payload.byteCount >= Self.headerSize
        else { return nil }
        self.init(family: family, kind: Kind(kernel: type), prefixLength: prefixLength, table: UInt32(table))
        NetlinkParser.forEachAttribute(in: payload, after: Self.headerSize) { type, value in
            switch type {
            case Int(RTA_DST.rawValue): destination = value.address(of: family)
            case Int(RTA_OIF.rawValue): interfaceIndex = value.integer(at: 0, as: UInt32.self)
            case Int(RTA_GATEWAY.rawValue): gateway = value.address(of: family)
            case Int(RTA_VIA.rawValue): gateway = Self.via(value) ?? gateway
            case Int(RTA_PREFSRC.rawValue): source = value.address(of: family)
            case Int(RTA_TABLE.rawValue): self.table = value.integer(at: 0, as: UInt32.self) ?? self.table
            case Int(RTA_PRIORITY.rawValue): metric = value.integer(at: 0, as: UInt32.self) ?? 0
            case Int(RTA_CACHEINFO.rawValue): lifetime = Self.lifetime(value)
            default: break
            }
        }
    }

    /// The remaining time in `struct rta_cacheinfo`, in hundredths of a second; 0 means that it does not expire.
    private static func lifetime(_ value: RawSpan) -> Duration? {
        guard let hundredths = value.integer(at: 8, as: Int32.self), hundredths != 0 else { return nil }
        return .milliseconds(10 * max(0, Int64(hundredths)))
    }

    /// A gateway of another family than the route's (`struct rtvia`), as in IPv4 over an IPv6 next hop (RFC 5549).
    private static func via(_ value: RawSpan) -> IPAddress? {
        guard
            let family = value.integer(at: 0, as: UInt16.self).flatMap({ IPAddress.Family(kernel: UInt8(clamping: $0)) }
            )
        else { return nil }
        return value.extracting(2..<value.byteCount).address(of: family)
    }
}

extension RouteRecord.Kind {
    init(kernel type: UInt8) {
        switch Int(type) {
        case Int(RTN_UNICAST): self = .unicast
        case Int(RTN_LOCAL): self = .local
        case Int(RTN_BLACKHOLE), Int(RTN_UNREACHABLE), Int(RTN_PROHIBIT): self = .blocking
        default: self = .other
        }
    }
}
