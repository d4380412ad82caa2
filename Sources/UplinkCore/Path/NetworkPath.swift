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
    /// The interfaces that lead to the internet, the one in use first.
    public var interfaces: [NetworkInterface]
    /// Whether use costs money or quota (a mobile network).
    public var isExpensive: Bool
    /// Whether the user asked programs to use little.
    public var isConstrained: Bool
    /// Rises by one or more with every path a monitor gives, so that a flap between two looks can be told.
    public var generation: UInt64

    /// Describes a path. What is left out is what an absent network has.
    public init(
        status: Status = .unsatisfied, unsatisfiedReason: UnsatisfiedReason? = nil, scope: Scope = .none,
        ipv4: FamilyPath = .unavailable(.noInterface), ipv6: FamilyPath = .unavailable(.noInterface),
        interfaces: [NetworkInterface] = [], isExpensive: Bool = false, isConstrained: Bool = false,
        generation: UInt64 = 0
    ) {
        self.status = status
        self.unsatisfiedReason = unsatisfiedReason
        self.scope = scope
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        self.interfaces = interfaces
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
        self.generation = generation
    }

    /// Whether the status is ``Status/satisfied``.
    public var isSatisfied: Bool { status == .satisfied }

    /// The way that packets of one family take.
    public subscript(family: IPAddress.Family) -> FamilyPath {
        switch family {
        case .ipv4: ipv4
        case .ipv6: ipv6
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

extension NetworkPath: CustomStringConvertible {
    /// One line for a person, such as `satisfied: eth0 (ethernet), IPv4 192.0.2.10 via 192.0.2.1`.
    public var description: String {
        guard isSatisfied else {
            return unsatisfiedReason.map { "\(status.rawValue): \($0.explanation)" } ?? status.rawValue
        }
        let interface = primaryInterface.map { ["\($0.name) (\($0.kind.rawValue))"] } ?? []
        let families = [("IPv4", ipv4), ("IPv6", ipv6)].compactMap { name, family -> String? in
            guard family.isAvailable else { return nil }
            let source = family.source.map { " \($0)" } ?? ""
            return name + source + (family.gateway.map { " via \($0)" } ?? "")
        }
        let notes = (isExpensive ? ["expensive"] : []) + (isConstrained ? ["constrained"] : [])
        return "\(status.rawValue): " + (interface + families + notes).joined(separator: ", ")
    }
}
