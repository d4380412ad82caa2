// SPDX-License-Identifier: Apache-2.0

/// A network interface that a path uses or could use.
public struct NetworkInterface: Sendable, Hashable {
    /// The kind of an interface's link, as the kernel describes it; the interface's name is not evidence.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An Ethernet link, or one that looks like Ethernet to the kernel.
        case ethernet
        /// A wireless LAN.
        case wifi
        /// A mobile network's modem.
        case cellular
        /// A tunnel or a point-to-point link (TUN, WireGuard, PPP).
        case tunnel
        /// A bridge or another virtual switch.
        case bridge
        /// The host's own loopback interface.
        case loopback
        /// Anything else.
        case other
    }

    /// What carries a tunnel: the route that the tunnel's own packets take.
    public struct Underlying: Sendable, Hashable {
        /// The tunnel's far end, if it is known.
        public var endpoint: IPAddress?
        /// The kind of link that carries the tunnel, if there is one.
        public var kind: Kind?
        /// The route to the far end; its interface, gateway and source are those outside the tunnel.
        public var path: FamilyPath

        /// Describes what carries a tunnel.
        public init(endpoint: IPAddress? = nil, kind: Kind? = nil, path: FamilyPath) {
            self.endpoint = endpoint
            self.kind = kind
            self.path = path
        }
    }

    /// The interface's current name, such as `eth0`. It can change while the interface is up.
    public var name: String
    /// The interface's index (`if_nametoindex(3)`). A number can be used again for another interface.
    public var index: UInt32
    /// The kind of link.
    public var kind: Kind
    /// The addresses that can be used as a source address, in the kernel's order.
    public var addresses: [IPAddress]
    /// The next hops of its routes to the internet, or to the monitor's destination: at most one per family.
    public var gateways: [IPAddress]
    /// The size in bytes of the largest packet that the link carries.
    public var mtu: UInt32
    /// Whether use costs money or quota, as far as is known: a modem, a tethered phone, or an interface that the
    /// program itself has declared metered.
    public var isMetered: Bool
    /// What carries the tunnel; nil if that is not known or the interface is not a tunnel.
    public var underlying: Underlying?

    /// Describes an interface.
    public init(
        name: String, index: UInt32, kind: Kind, addresses: [IPAddress] = [], gateways: [IPAddress] = [],
        mtu: UInt32 = 1500, isMetered: Bool = false, underlying: Underlying? = nil
    ) {
        self.name = name
        self.index = index
        self.kind = kind
        self.addresses = addresses
        self.gateways = gateways
        self.mtu = mtu
        self.isMetered = isMetered
        self.underlying = underlying
    }

    /// Whether the kernel would let an interface have this name (`dev_valid_name`; IFNAMSIZ, netdevice(7)): at most 15
    /// bytes, without slashes, colons and spaces, to which it counts 0xA0 too.
    package static func canBeNamed(_ name: String) -> Bool {
        (1...15).contains(name.utf8.count) && name != "." && name != ".."
            && !name.utf8.contains { byte in "/: \t\n\u{b}\u{c}\r\0".utf8.contains(byte) || byte == 0xA0 }
    }
}
