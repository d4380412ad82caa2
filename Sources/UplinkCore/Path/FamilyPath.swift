// SPDX-License-Identifier: Apache-2.0

/// The way that packets of one address family take to the internet, if there is one.
public struct FamilyPath: Sendable, Hashable {
    /// Whether the family can be used.
    public var isAvailable: Bool
    /// Why the family cannot be used; nil when it can.
    public var unsatisfiedReason: UnsatisfiedReason?
    /// The name of the interface that the route leads to, also when its link is down.
    public var interface: String?
    /// The index of that interface.
    public var interfaceIndex: UInt32?
    /// The next hop; nil where the route is on-link, as on a tunnel.
    public var gateway: IPAddress?
    /// The source address that the kernel chooses for an unbound socket.
    public var source: IPAddress?
    /// The routing table that gave the answer (254 is `main`).
    public var table: UInt32?

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

    private init(reason: UnsatisfiedReason) {
        isAvailable = false
        unsatisfiedReason = reason
    }
}
