// SPDX-License-Identifier: Apache-2.0

/// The state of the network at one moment, as a program on this host would find it.
///
/// A path is a value that does not change. A ``NetworkMonitor`` gives the current one and every one after it.
/// "Satisfied" means that the kernel has a usable route to the internet, over a link that is up, from a source address
/// that can be used; it does not mean that a server answered.
public struct NetworkPath: Sendable, Hashable {
    /// Whether the network can be used.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        /// There is a usable route to the internet, in at least one address family.
        case satisfied
        /// There is no such route; ``NetworkPath/unsatisfiedReason`` says why.
        case unsatisfied
        /// Exists on other systems; never used on Linux.
        case requiresConnection
    }

    /// How far a packet can go.
    public enum Scope: Int, Sendable, Hashable, CaseIterable, Comparable {
        /// Nowhere: not even the loopback interface is up.
        case none
        /// To this host only.
        case host
        /// To neighbours on a link (link-local addresses only).
        case link
        /// To connected or routed networks, without a route to the internet.
        case site
        /// To the internet.
        case global

        /// Whether packets go less far in `left` than in `right`.
        public static func < (left: Scope, right: Scope) -> Bool { left.rawValue < right.rawValue }
    }

    /// The status over both families: satisfied when at least one is.
    public var status: Status
    /// Why the path is not satisfied; nil when it is.
    public var unsatisfiedReason: UnsatisfiedReason?
    /// How far a packet can go.
    public var scope: Scope
    /// The route that IPv4 packets take.
    public var ipv4: FamilyPath
    /// The route that IPv6 packets take.
    public var ipv6: FamilyPath
    /// The interfaces that lead to the internet, in order of preference: the one in use first, then by route metric.
    /// Empty unless the path is satisfied.
    ///
    /// Only interfaces with a usable address and a route to the internet of their own are included. A bridge of
    /// containers has none.
    public var interfaces: [NetworkInterface]
    /// The interfaces that are not in use but would reach the internet for a socket bound to them (`SO_BINDTODEVICE`),
    /// in order of preference.
    ///
    /// They are also given while the path is not satisfied. The kernel goes on sending into a dead uplink as long as
    /// its route is the best one; this property then says what would work.
    public var alternatives: [NetworkInterface]
    /// Whether use costs money or quota: a modem, a tethered phone, a tunnel through one, or an interface that the
    /// program itself has declared so.
    public var isExpensive: Bool
    /// Whether programs should use little data. The kernel knows nothing about this; the program itself can say it of
    /// an interface.
    public var isConstrained: Bool
    /// The name servers, and whether packets can reach them.
    public var dns: DNSConfiguration
    /// The number of the path, which shows whether changes were missed.
    ///
    /// Increases by one with every path the monitor publishes, and by more when a change in between was not published
    /// or could not be observed (for example while the monitor was paused or had failed). A gap therefore means that
    /// the network may have gone away and come back. A change that is undone within microseconds, before the monitor
    /// looks, may leave no trace.
    public var generation: UInt64
    /// A number that tells networks apart that look alike, made from the primary interface's index, the gateway and the
    /// source address's network. Nil unless the path is satisfied, and nil if the monitor polls (``isAuthoritative``).
    ///
    /// The same network has the same number in every process, as long as the interface keeps its index.
    public var networkID: UInt64?
    /// Whether the path is what the kernel said. False if the monitor has no netlink and has to guess. Such a path is
    /// satisfied when in doubt, and has no ``networkID``, no ``alternatives``, no name servers and no gateways of
    /// interfaces.
    public var isAuthoritative: Bool
    /// When the system last woke from sleep while the monitor was working. Earlier connections may be dead.
    public var lastResume: ContinuousClock.Instant? {
        get { resume.instant }
        set { resume = newValue.map(Resume.at) ?? .never }
    }
    private var resume = Resume.never

    /// An instant's size is known only at run time, so a path that contained one itself would be copied by calls into
    /// the runtime.
    private indirect enum Resume: Sendable, Hashable {
        case never
        case at(ContinuousClock.Instant)

        var instant: ContinuousClock.Instant? {
            switch self {
            case .never: nil
            case .at(let instant): instant
            }
        }
    }

    /// Describes a path. Parameters left out take the values of a path without a network.
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

    /// The route that packets of one family take.
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

    /// The interface that currently carries traffic to the internet.
    public var primaryInterface: NetworkInterface? { interfaces.first }

    /// The interfaces that available families use: one, or two if IPv4 and IPv6 use different ones.
    public var interfacesInUse: [NetworkInterface] {
        let indices = [ipv4, ipv6].filter(\.isAvailable).compactMap(\.interfaceIndex)
        return interfaces.filter { indices.contains($0.index) }
    }
}
