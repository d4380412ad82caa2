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

    /// The interface's present name, such as `eth0`. It can be changed while the interface is up.
    public var name: String
    /// The interface's index (`if_nametoindex(3)`). A number can come back on another interface.
    public var index: UInt32
    /// What kind of link it is.
    public var kind: Kind
    /// The addresses that can be used as a source, in the kernel's order.
    public var addresses: [IPAddress]
    /// The largest packet in bytes that the link carries.
    public var mtu: UInt32

    /// Describes an interface.
    public init(name: String, index: UInt32, kind: Kind, addresses: [IPAddress] = [], mtu: UInt32 = 1500) {
        self.name = name
        self.index = index
        self.kind = kind
        self.addresses = addresses
        self.mtu = mtu
    }
}
