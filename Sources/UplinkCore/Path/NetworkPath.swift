// SPDX-License-Identifier: Apache-2.0

/// What the network is like at one moment, as a program on this host would find it.
///
/// A path is a value: it does not change. A ``NetworkMonitor`` gives the current one and every one after it. "Satisfied"
/// says that the kernel has a usable route to the internet, over a link that is up, from a source address that can be
/// used; it does not say that a server answered.
public struct NetworkPath: Sendable, Hashable {
    /// Whether the network can be used.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        /// There is a usable route to the internet, in at least one address family.
        case satisfied
        /// There is none; ``NetworkPath/unsatisfiedReason`` says why.
        case unsatisfied
        /// Known from other systems; never given on Linux.
        case requiresConnection
    }

    /// How far a packet can go.
    public enum Scope: Int, Sendable, Hashable, CaseIterable, Comparable {
        /// Nowhere: not even the loopback is up.
        case none
        /// To this host alone.
        case host
        /// To neighbours on a link (link-local addresses only).
        case link
        /// To networks that are connected or routed, without a way to the internet.
        case site
        /// To the internet.
        case global

        /// Whether packets go less far.
        public static func < (left: Scope, right: Scope) -> Bool { left.rawValue < right.rawValue }
    }

    /// The status over both families: satisfied when either is.
    public var status: Status
    /// Why the path is not satisfied; nil when it is.
    public var unsatisfiedReason: UnsatisfiedReason?
    /// How far a packet can go.
    public var scope: Scope
    /// The way that IPv4 packets take.
    public var ipv4: FamilyPath
    /// The way that IPv6 packets take.
    public var ipv6: FamilyPath
    /// The interfaces that lead to the internet, in order of preference: the one in use first, then by the routes'
    /// metric. Empty unless the path is satisfied.
    ///
    /// Only those count that have a usable address and a route to the internet of their own. A bridge of containers has
    /// none.
    public var interfaces: [NetworkInterface]
    /// The interfaces that are not in use and through which a socket that is bound to one of them (`SO_BINDTODEVICE`)
    /// would reach the internet, in order of preference.
    ///
    /// Also while the path is not satisfied: the kernel goes on sending into an uplink that is dead as long as its route
    /// is the best, and then this says what would work.
    public var alternatives: [NetworkInterface]
    /// Whether use costs money or quota: a modem, a tethered phone, a tunnel through one, or what the program itself
    /// says of an interface.
    public var isExpensive: Bool
    /// Whether programs should use little. The kernel knows nothing of it; the program itself can say it of an interface.
    public var isConstrained: Bool
    /// The name servers, and whether packets can go there.
    public var dns: DNSConfiguration
    /// Rises by one with every path a monitor gives, and by more where a change was not told or could not be seen, as when
    /// the monitor had paused or failed; so that a flap between two paths can be told. What was away and back again before
    /// the monitor looked, within microseconds, leaves no trace.
    public var generation: UInt64
    /// Tells networks apart that look alike: a number made of the primary interface's index, the gateway and the source
    /// address's network. Nil unless the path is satisfied, and where the monitor polls (``isAuthoritative``).
    ///
    /// The same network has the same number as long as the interface keeps its index, in every process.
    public var networkID: UInt64?
    /// Whether the path is what the kernel said. False where the monitor has no netlink and has to guess; such a path is
    /// satisfied when in doubt, and has no ``networkID``, no ``alternatives``, no name servers and no gateways of
    /// interfaces.
    public var isAuthoritative: Bool
    /// When the system last woke from sleep while the monitor worked. Connections from before may be dead.
    public var lastResume: ContinuousClock.Instant?

    /// Describes a path. What is left out is what an absent network has.
    public init(
        status: Status = .unsatisfied, unsatisfiedReason: UnsatisfiedReason? = nil, scope: Scope = .none,
        ipv4: FamilyPath = .unavailable(.noInterface), ipv6: FamilyPath = .unavailable(.noInterface),
        interfaces: [NetworkInterface] = [], alternatives: [NetworkInterface] = [], isExpensive: Bool = false,
        isConstrained: Bool = false, dns: DNSConfiguration = DNSConfiguration(), generation: UInt64 = 0,
        networkID: UInt64? = nil, isAuthoritative: Bool = true, lastResume: ContinuousClock.Instant? = nil
    ) {
        self.status = status
        self.unsatisfiedReason = unsatisfiedReason
        self.scope = scope
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        self.interfaces = interfaces
        self.alternatives = alternatives
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
        self.dns = dns
        self.generation = generation
        self.networkID = networkID
        self.isAuthoritative = isAuthoritative
        self.lastResume = lastResume
    }

    /// Whether the status is ``Status/satisfied``.
    public var isSatisfied: Bool { status == .satisfied }

    /// The way that packets of one family take.
    public subscript(family: IPAddress.Family) -> FamilyPath {
        get {
            switch family {
            case .ipv4: ipv4
            case .ipv6: ipv6
            }
        }
        set {
            switch family {
            case .ipv4: ipv4 = newValue
            case .ipv6: ipv6 = newValue
            }
        }
    }

    /// The interface that carries traffic to the internet now.
    public var primaryInterface: NetworkInterface? { interfaces.first }

    /// The interfaces that an available family goes through: one, or two where IPv4 and IPv6 part.
    public var interfacesInUse: [NetworkInterface] {
        let indices = [ipv4, ipv6].filter(\.isAvailable).compactMap(\.interfaceIndex)
        return interfaces.filter { indices.contains($0.index) }
    }
}
