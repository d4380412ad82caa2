// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Derives the path from links, addresses and the kernel's verdicts. Pure: the decision table of
/// `docs/internals/monitor.md`.
struct PathEvaluation {
    let table: InterfaceTable
    /// The destination of the path; nil for the internet.
    var destination: IPAddress?
    /// The kernel's verdicts on each probe, in the order of the configuration, or on the destination.
    let verdicts: [IPAddress.Family: [RouteVerdict]]

    /// The path, without its interfaces and what follows from them, and without its generation.
    var path: NetworkPath {
        let (ipv4, ipv6) = (family(.ipv4), family(.ipv6))
        let isSatisfied = ipv4.isAvailable || ipv6.isAvailable
        var path = NetworkPath(
            status: isSatisfied ? .satisfied : .unsatisfied,
            unsatisfiedReason: isSatisfied ? nil : Self.nearest(ipv4.unsatisfiedReason, ipv6.unsatisfiedReason),
            ipv4: ipv4, ipv6: ipv6)
        path.scope = isSatisfied ? scope(of: path) : localScope
        return path
    }

    /// The path of one family. Every probe must be reachable: half of the internet is not the internet (a VPN's two
    /// half routes).
    func family(_ family: IPAddress.Family) -> FamilyPath {
        if let destination, destination.family != family { return .notAsked }
        let paths = (verdicts[family] ?? []).map { path(for: $0, to: family) }
        return paths.first { !$0.isAvailable } ?? paths.first ?? .unavailable(.unknown)
    }

    /// The route that one verdict describes.
    func path(for verdict: RouteVerdict, to family: IPAddress.Family) -> FamilyPath {
        switch verdict {
        case .none: .unavailable(reasonWithoutRoute(family))
        case .local(let route): destination == nil ? .unavailable(.noRoute) : path(onThisHost: route)
        case .toMany: .unavailable(.noRoute)
        case .blocked: .unavailable(.blocked)
        case .unknown: .unavailable(.unknown)
        case .unicast(let route): path(through: route)
        }
    }

    private func path(through route: RouteRecord) -> FamilyPath {
        guard let index = route.interfaceIndex else { return .unavailable(.unknown) }
        let link = table.links[index]
        if link?.flags.contains(.loopback) == true { return .unavailable(.noRoute) }
        return path(by: route, link, index, unless: reasonAgainst(route, link))
    }

    /// The route to one of this host's own addresses.
    private func path(onThisHost route: RouteRecord) -> FamilyPath {
        guard let index = route.interfaceIndex else { return .unavailable(.unknown) }
        let link = table.links[index]
        return path(by: route, link, index, unless: link?.flags.contains(.up) == true ? nil : .linkDown)
    }

    private func path(
        by route: RouteRecord, _ link: LinkRecord?, _ index: UInt32, unless reason: UnsatisfiedReason?
    ) -> FamilyPath {
        var path =
            reason.map(FamilyPath.unavailable)
            ?? FamilyPath(interface: link?.name ?? "", interfaceIndex: index, source: route.source)
        path.interface = link?.name
        path.interfaceIndex = index
        path.gateway = route.gateway
        path.table = route.table == 0 ? nil : route.table  // RT_TABLE_UNSPEC: without netlink nothing tells it
        path.isDegraded = path.isAvailable && isDeprecated(route.source, on: index)
        return path
    }

    /// Whether the destination is on the link, where link-local addresses are enough.
    private var isOnLink: Bool { destination?.isLinkLocal == true }

    private func reasonAgainst(_ route: RouteRecord, _ link: LinkRecord?) -> UnsatisfiedReason? {
        guard let link, link.isOperational else { return link?.isDormant == true ? .linkDormant : .linkDown }
        if let source = route.source, isUsable(source) { return nil }
        let isPending = table.addresses(of: link.index).contains {
            $0.address.family == route.family && ($0.isPending || isOnLink && $0.isPendingOnLink)
        }
        return isPending ? .addressPending : .noAddress
    }

    /// Whether a socket can reach the targets from this address. IPv4's link-local addresses count, because some clouds
    /// give them a default route; so do IPv6's unique local ones, which may be behind a translator.
    private func isUsable(_ source: IPAddress) -> Bool {
        if source.isUnspecified || source.isLoopback { return false }
        guard source.family == .ipv6, source.isLinkLocal else { return true }
        return isOnLink
    }

    private func isDeprecated(_ source: IPAddress?, on index: UInt32) -> Bool {
        guard let source, let record = table.record(of: source, on: index) else { return false }
        return record.flags.contains(.deprecated)
    }

    private func reasonWithoutRoute(_ family: IPAddress.Family) -> UnsatisfiedReason {
        if table.operationalLinks.isEmpty { return .noInterface }
        return table.operationalAddresses(of: family).contains(where: \.isUsable) ? .noRoute : .noAddress
    }
}

// MARK: How far packets go

extension PathEvaluation {
    /// The scope of a satisfied path: the internet, or as far as the destination is.
    func scope(of path: NetworkPath) -> NetworkPath.Scope {
        guard let destination else { return .global }
        let way = path[destination.family]
        if let index = way.interfaceIndex, table.links[index]?.flags.contains(.loopback) == true { return .host }
        if destination.isLinkLocal { return .link }
        return destination.isPrivate || isOnLink(destination, way) ? .site : .global
    }

    /// Whether a destination is a neighbour in one of this host's own networks.
    private func isOnLink(_ destination: IPAddress, _ way: FamilyPath) -> Bool {
        guard way.gateway == nil, let index = way.interfaceIndex else { return false }
        return table.addresses(of: index).contains {
            $0.prefixLength > 0
                && ($0.peer ?? $0.address).sharesPrefix(ofLength: Int($0.prefixLength), with: destination)
        }
    }

    /// How far packets go when they do not reach the targets.
    private var localScope: NetworkPath.Scope {
        let addresses = IPAddress.Family.allCases.flatMap(table.operationalAddresses)
        if addresses.contains(where: { $0.isUsable && !$0.address.isLinkLocal }) { return .site }
        if addresses.contains(where: \.isUsableOnLink) { return .link }
        return table.links.values.contains { $0.flags.isSuperset(of: [.up, .loopback]) } ? .host : .none
    }

    /// Returns the reason that is closer to a working network; unknown counts as the farthest.
    static func nearest(_ left: UnsatisfiedReason?, _ right: UnsatisfiedReason?) -> UnsatisfiedReason {
        let order = UnsatisfiedReason.allCases
        let known = [left, right].compactMap { $0 }.filter { $0 != .unknown }
        return known.max { order.firstIndex(of: $0) ?? 0 < order.firstIndex(of: $1) ?? 0 } ?? .unknown
    }
}

extension AddressRecord {
    /// Whether neighbours can be reached from the address.
    fileprivate var isUsableOnLink: Bool {
        isUsable || (address.isLinkLocal && flags.isDisjoint(with: [.tentative, .duplicate]))
    }
}
