// SPDX-License-Identifier: Apache-2.0

/// The route that packets of one address family take to the internet, or to the monitor's destination if it has one.
public struct FamilyPath: Sendable, Hashable {
    /// Whether the family can be used.
    public var isAvailable: Bool
    /// Why the family cannot be used; nil when it can, and when nobody asked about it (``notAsked``).
    ///
    /// A change of this reason alone publishes no new path, so it may be as old as the path.
    public var unsatisfiedReason: UnsatisfiedReason?
    /// Whether the only source address is deprecated: still valid, but not meant for new connections (RFC 4862, section
    /// 5.5.4).
    public var isDegraded = false
    /// The name of the interface that the route leads to, even when its link is down.
    public var interface: String?
    /// The index of that interface.
    public var interfaceIndex: UInt32?
    /// The next hop; nil if the route is on-link, as on a tunnel.
    public var gateway: IPAddress?
    /// The state of the next hop in the kernel's neighbour table; nil if there is no next hop.
    ///
    /// Only a hint: it is read when a path is published, and a change of it alone publishes no new path. It never makes
    /// a family unavailable.
    public var gatewayState: GatewayState?
    /// The source address that the kernel chooses for an unbound socket.
    public var source: IPAddress?
    /// The routing table that the route comes from (254 is `main`).
    public var table: UInt32?
    /// The result of active validation, if it was asked for. It never decides ``isAvailable``.
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

    /// Describes a family that cannot be used, with the reason.
    public static func unavailable(_ reason: UnsatisfiedReason) -> Self { Self(reason: reason) }

    /// A family that nobody asked about: the one that the monitor's destination does not belong to.
    public static let notAsked = Self(reason: nil)

    private init(reason: UnsatisfiedReason?) {
        isAvailable = false
        unsatisfiedReason = reason
    }
}

extension FamilyPath {
    /// The state of a next hop as the kernel knows it (the `NUD_…` states of arp(7) and rtnetlink(7)).
    public enum GatewayState: String, Sendable, Hashable, CaseIterable {
        /// It answered a moment ago.
        case reachable
        /// It answered once; it will be asked again when a packet goes there.
        case stale
        /// It is being asked now.
        case probing
        /// It did not answer.
        case failed
        /// It needs no answer: it was set by hand, or the link has no addresses of its own.
        case permanent
        /// Nothing has been sent to it yet.
        case unknown
    }
}
