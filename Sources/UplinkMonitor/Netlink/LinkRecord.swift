// SPDX-License-Identifier: Apache-2.0
import CNetlink
import UplinkCore

/// A link as the kernel describes it (`RTM_NEWLINK`).
struct LinkRecord: Equatable {
    /// The flags of an interface (netdevice(7)) that matter here.
    struct Flags: OptionSet {
        let rawValue: UInt32

        /// Switched on by the administrator.
        static let up = Self(rawValue: 1 << 0)
        static let loopback = Self(rawValue: 1 << 3)
        static let pointToPoint = Self(rawValue: 1 << 4)
        /// The operational state is up or unknown (RFC 2863).
        static let running = Self(rawValue: 1 << 6)
        /// The driver sees a carrier.
        static let lowerUp = Self(rawValue: 1 << 16)
        static let dormant = Self(rawValue: 1 << 17)
    }

    /// The operational states (RFC 2863) that need a name here.
    enum OperationalState {
        static let testing: UInt8 = 4
        static let dormant: UInt8 = 5
    }

    var index: UInt32
    var name: String
    var flags: Flags
    var operationalState: UInt8 = 0
    /// The kind of hardware (`ARPHRD_…`).
    var hardwareType: UInt16
    /// The driver's name for a kind of virtual link, such as `veth` or `wireguard` (`IFLA_INFO_KIND`); nil for
    /// hardware.
    var kind: String?
    var mtu: UInt32 = 0
    /// The link that it is part of: a bridge, a bond, a VRF.
    var master: UInt32?
    /// The far end of a tunnel, if the driver knows it.
    var remote: IPAddress?
    /// Whether the hardware address was made up rather than assigned by a maker (IEEE 802, the locally administered
    /// bit).
    var isLocallyAdministered = false

    /// Whether packets can leave through the link now. A carrier alone is not enough: there is one for a moment before
    /// every link comes up, and while 802.1X or Wi-Fi waits for authentication.
    var isOperational: Bool { flags.isSuperset(of: [.up, .running, .lowerUp]) && !flags.contains(.loopback) }

    /// Whether there is a carrier but the link waits for something else.
    var isDormant: Bool {
        let waits =
            flags.contains(.dormant) || operationalState == OperationalState.dormant
            || operationalState == OperationalState.testing
        return flags.isSuperset(of: [.up, .lowerUp]) && waits && !isOperational
    }
}

extension LinkRecord {
    static let headerSize = 16  // struct ifinfomsg

    /// Parses the message after its header; nil if it is not about a link as such.
    ///
    /// A bridge reports its ports in messages of its own family: there `RTM_DELLINK` means that a port left the bridge.
    /// Wireless extensions send messages that change nothing.
    init?(_ payload: RawSpan) {
        guard let family = payload.integer(at: 0, as: UInt8.self), family == 0,  // AF_UNSPEC
            let hardwareType = payload.integer(at: 2, as: UInt16.self),
            let index = payload.integer(at: 4, as: UInt32.self), index != 0,
            let flags = payload.integer(at: 8, as: UInt32.self),
            let change = payload.integer(at: 12, as: UInt32.self)
        else { return nil }
        self.init(index: index, name: "", flags: Flags(rawValue: flags), hardwareType: hardwareType)
        var isWirelessEvent = false
        NetlinkParser.forEachAttribute(in: payload, after: Self.headerSize) { type, value in
            switch type {
            case Int(IFLA_IFNAME): name = value.text
            case Int(IFLA_MTU): mtu = value.integer(at: 0, as: UInt32.self) ?? 0
            case Int(IFLA_MASTER): master = value.integer(at: 0, as: UInt32.self)
            case Int(IFLA_OPERSTATE): operationalState = value.integer(at: 0, as: UInt8.self) ?? 0
            case Int(IFLA_WIRELESS): isWirelessEvent = change == 0
            case Int(IFLA_ADDRESS):
                isLocallyAdministered = value.integer(at: 0, as: UInt8.self).map { $0 & 2 != 0 } ?? false
            case Int(IFLA_LINKINFO): readInformation(value)
            default: break
            }
        }
        if isWirelessEvent { return nil }
    }

    /// Parses what the driver of a virtual link says; the kernel writes the driver's name before its data.
    private mutating func readInformation(_ information: RawSpan) {
        NetlinkParser.forEachAttribute(in: information, after: 0) { type, value in
            switch type {
            case Int(IFLA_INFO_KIND): kind = value.text
            case Int(IFLA_INFO_DATA):
                let remotes = Self.remoteAttributes(of: kind)
                NetlinkParser.forEachAttribute(in: value, after: 0) { type, value in
                    guard remotes.contains(type) else { return }
                    let address = value.address(of: value.byteCount == 4 ? .ipv4 : .ipv6)
                    if let address, !address.isUnspecified, !address.isMulticast { remote = address }
                }
            default: break
            }
        }
    }

    /// The attributes in which tunnel drivers keep the far end, from linux/if_tunnel.h and linux/if_link.h.
    private static func remoteAttributes(of kind: String?) -> [Int] {
        switch kind {
        case "gre", "gretap", "ip6gre", "ip6gretap", "erspan", "ip6erspan": [7]  // IFLA_GRE_REMOTE
        case "ipip", "sit", "ip6tnl": [3]  // IFLA_IPTUN_REMOTE
        case "vti", "vti6": [5]  // IFLA_VTI_REMOTE
        case "vxlan": [Int(IFLA_VXLAN_GROUP), Int(IFLA_VXLAN_GROUP6)]
        case "geneve": [Int(IFLA_GENEVE_REMOTE), Int(IFLA_GENEVE_REMOTE6)]
        default: []
        }
    }
}
