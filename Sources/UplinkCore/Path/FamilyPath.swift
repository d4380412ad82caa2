// SPDX-License-Identifier: Apache-2.0

/// The way that packets of one address family take to the internet, or to a monitor's destination, if there is one.
public struct FamilyPath: Sendable, Hashable {
    /// Whether the family can be used.
    public var isAvailable: Bool
    /// Why the family cannot be used; nil when it can, and when nobody asked (``notAsked``).
    public var unsatisfiedReason: UnsatisfiedReason?
    /// Whether the only source address is deprecated: legal, but its network asks for no new connections with it
    /// (RFC 4862, section 5.5.4).
    public var isDegraded = false
    /// The name of the interface that the route leads to, also when its link is down.
    public var interface: String?
    /// The index of that interface.
    public var interfaceIndex: UInt32?
    /// The next hop; nil where the route is on-link, as on a tunnel.
    public var gateway: IPAddress?
    /// What the kernel's neighbour table says of the next hop; nil where there is none.
    ///
    /// A hint, as old as the path: it is read when a path is told, and its changes tell no new one. It never makes a
    /// family unavailable.
    public var gatewayState: GatewayState?
    /// The source address that the kernel chooses for an unbound socket.
    public var source: IPAddress?
    /// The routing table that gave the answer (254 is `main`).
    public var table: UInt32?
    /// What active validation found out, where it was asked for. It never decides ``isAvailable``.
    public var validation = PathValidation.disabled

    /// Describes an available family.
    public init(
        interface: String, interfaceIndex: UInt32, gateway: IPAddress? = nil, source: IPAddress? = nil,
        table: UInt32? = nil
    ) {
        isAvailable = true
        self.interface = interface
        self.interfaceIndex = interfaceIndex
        self.gateway = gateway
        self.source = source
        self.table = table
    }

    /// A family that cannot be used, and why.
    public static func unavailable(_ reason: UnsatisfiedReason) -> Self { Self(reason: reason) }

    /// A family that nobody asked about: the other one than that of a monitor's destination.
    public static let notAsked = Self(reason: nil)

    private init(reason: UnsatisfiedReason?) {
        isAvailable = false
        unsatisfiedReason = reason
    }
}

extension FamilyPath {
    /// What the kernel knows of a next hop (the `NUD_…` states of arp(7) and rtnetlink(7)).
    public enum GatewayState: String, Sendable, Hashable, CaseIterable {
        /// It answered a moment ago.
        case reachable
        /// It answered once; it will be asked again when a packet goes there.
        case stale
        /// It is being asked now.
        case probing
        /// It did not answer.
        case failed
        /// It needs no answer: set by hand, or the link has no addresses of its own.
        case permanent
        /// Nothing was sent there yet.
        case unknown
    }
}
