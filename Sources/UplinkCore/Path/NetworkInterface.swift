// SPDX-License-Identifier: Apache-2.0

/// A network interface that a path goes through, or could.
public struct NetworkInterface: Sendable, Hashable {
    /// What kind of link an interface is, as the kernel describes it; names are not evidence.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An Ethernet link, or one that looks like it to the kernel.
        case ethernet
        /// A wireless LAN.
        case wifi
        /// A mobile network's modem.
        case cellular
        /// A tunnel or a point-to-point link (TUN, WireGuard, PPP).
        case tunnel
        /// A bridge or another virtual switch.
        case bridge
        /// The host's own loopback.
        case loopback
        /// Anything else.
        case other
    }

    /// What carries a tunnel: the way that the tunnel's own packets take.
    public struct Underlying: Sendable, Hashable {
        /// The tunnel's far end, where it is known.
        public var endpoint: IPAddress?
        /// What kind of link carries the tunnel, where there is one.
        public var kind: Kind?
        /// The way to the far end; its interface, gateway and source are those outside of the tunnel.
        public var path: FamilyPath

        /// Describes what carries a tunnel.
        public init(endpoint: IPAddress? = nil, kind: Kind? = nil, path: FamilyPath) {
            self.endpoint = endpoint
            self.kind = kind
            self.path = path
        }
    }

    /// The interface's present name, such as `eth0`. It can be changed while the interface is up.
    public var name: String
    /// The interface's index (`if_nametoindex(3)`). A number can come back on another interface.
    public var index: UInt32
    /// What kind of link it is.
    public var kind: Kind
    /// The addresses that can be used as a source, in the kernel's order.
    public var addresses: [IPAddress]
    /// The next hops of its routes to the internet, or to a monitor's destination: at most one of each family.
    public var gateways: [IPAddress]
    /// The largest packet in bytes that the link carries.
    public var mtu: UInt32
    /// Whether use costs money or quota, as far as is known: a modem, a tethered phone, or what the program itself says.
    public var isMetered: Bool
    /// What carries a tunnel; nil where that is not known, and on what is none.
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
}
