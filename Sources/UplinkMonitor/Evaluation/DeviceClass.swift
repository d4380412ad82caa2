// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// The kind of an interface's link, and whether its use usually costs money or quota.
///
/// The evidence, strongest first: the driver's kind of a virtual link, the kind of hardware, and what sysfs says about
/// a device. A name is no evidence: `tun0` may be anything, and a tunnel may be called anything.
struct DeviceClass: Equatable {
    var kind: NetworkInterface.Kind
    var isMetered = false

    /// - Parameter device: What sysfs says about the device, if it is hardware.
    init(_ link: LinkRecord, _ device: DeviceTypes.Device = .init()) {
        kind = Self.kind(of: link, deviceType: device.type)
        isMetered = kind == .cellular || device.type == "bluetooth" || Self.isTether(link, driver: device.driver)
    }

    /// Whether the link is a phone on a USB cable. The drivers of USB network adapters also serve phones; phones make
    /// up their hardware address, while adapters have one from their maker.
    private static func isTether(_ link: LinkRecord, driver: String?) -> Bool {
        switch driver {
        case "rndis_host", "ipheth": true
        case "cdc_ether", "cdc_eem", "cdc_ncm": link.isLocallyAdministered
        default: false
        }
    }

    private static func kind(of link: LinkRecord, deviceType: String?) -> NetworkInterface.Kind {
        if link.flags.contains(.loopback) { return .loopback }
        if let kind = link.kind.flatMap(virtualKind) { return kind }
        switch deviceType {
        case "wlan": return .wifi
        case "wwan": return .cellular
        case "bluetooth": return .other
        default: break
        }
        switch Hardware(rawValue: link.hardwareType) {
        case .wireless, .wirelessPrism, .wirelessRadiotap: return .wifi
        case .rawIP: return .cellular
        case .ppp, .slip, .tunnel, .tunnel6, .sit, .gre, .gre6, .absent: return .tunnel
        case .ethernet: return link.flags.contains(.pointToPoint) ? .tunnel : .ethernet
        case nil: return link.flags.contains(.pointToPoint) ? .tunnel : .other
        }
    }

    /// The kinds that say more than the hardware does. (A TAP is of kind `tun` and looks like Ethernet, so the decision
    /// is left to its hardware.)
    private static func virtualKind(_ kind: String) -> NetworkInterface.Kind? {
        switch kind {
        case "wireguard", "amneziawg", "ovpn", "ovpn-dco", "ppp", "gre", "ip6gre", "gretap", "ip6gretap", "erspan",
            "ip6erspan", "ipip", "ip6tnl", "sit", "vti", "vti6", "xfrm", "gtp", "vxlan", "geneve":
            .tunnel
        case "bridge", "openvswitch": .bridge
        case "wwan", "rmnet": .cellular
        default: nil
        }
    }

    /// The kinds of hardware (`ARPHRD_…`) that are informative.
    private enum Hardware: UInt16 {
        case ethernet = 1
        case slip = 256
        case ppp = 512
        case rawIP = 519
        case tunnel = 768
        case tunnel6 = 769
        case sit = 776
        case gre = 778
        case wireless = 801
        case wirelessPrism = 802
        case wirelessRadiotap = 803
        case gre6 = 823
        case absent = 0xFFFE
    }
}
