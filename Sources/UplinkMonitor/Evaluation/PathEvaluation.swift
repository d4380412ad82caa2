// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Links, addresses and the kernel's verdicts ⇒ the path. Pure: the decision table of `docs/internals/monitor.md`.
struct PathEvaluation {
    let table: InterfaceTable
    /// What the kernel said of each probe, in the order of the configuration.
    let verdicts: [IPAddress.Family: [RouteVerdict]]
    /// The class of a link; asked for those that carry the path alone.
    let classify: (LinkRecord) -> DeviceClass

    init(
        table: InterfaceTable, verdicts: [IPAddress.Family: [RouteVerdict]],
        classify: @escaping (LinkRecord) -> DeviceClass = { DeviceClass($0) }
    ) {
        self.table = table
        self.verdicts = verdicts
        self.classify = classify
    }

    /// The path, without its list of interfaces and its generation.
    var path: NetworkPath {
        let (ipv4, ipv6) = (family(.ipv4), family(.ipv6))
        let isSatisfied = ipv4.isAvailable || ipv6.isAvailable
        let carriers = [ipv4, ipv6].filter(\.isAvailable).compactMap(\.interfaceIndex).compactMap { table.links[$0] }
        return NetworkPath(
            status: isSatisfied ? .satisfied : .unsatisfied,
            unsatisfiedReason: isSatisfied ? nil : Self.nearest(ipv4.unsatisfiedReason, ipv6.unsatisfiedReason),
            scope: isSatisfied ? .global : localScope, ipv4: ipv4, ipv6: ipv6,
            isExpensive: carriers.contains { classify($0).isMetered })
    }

    /// One family. Every probe must be reachable: half of the internet is not the internet (a VPN's half routes).
    func family(_ family: IPAddress.Family) -> FamilyPath {
        let paths = (verdicts[family] ?? []).map { path(for: $0, of: family) }
        return paths.first { !$0.isAvailable } ?? paths.first ?? .unavailable(.unknown)
    }

    private func path(for verdict: RouteVerdict, of family: IPAddress.Family) -> FamilyPath {
        switch verdict {
        case .none: .unavailable(reasonWithoutRoute(family))
        case .local: .unavailable(.noRoute)
        case .blocked: .unavailable(.blocked)
        case .unknown: .unavailable(.unknown)
        case .unicast(let route): path(through: route)
        }
    }

    private func path(through route: RouteRecord) -> FamilyPath {
        guard let index = route.interfaceIndex else { return .unavailable(.unknown) }
        let link = table.links[index]
        if link?.flags.contains(.loopback) == true { return .unavailable(.noRoute) }
        let reason = reasonAgainst(route, link)
        var path =
            reason.map(FamilyPath.unavailable)
            ?? FamilyPath(interface: link?.name ?? "", interfaceIndex: index, source: route.source)
        path.interface = link?.name
        path.interfaceIndex = index
        path.gateway = route.gateway
        path.table = route.table
        return path
    }

    private func reasonAgainst(_ route: RouteRecord, _ link: LinkRecord?) -> UnsatisfiedReason? {
        guard let link, link.isOperational else { return link?.isDormant == true ? .linkDormant : .linkDown }
        if let source = route.source, source.isUsableSource { return nil }
        let isPending = table.addresses(of: link.index).contains { $0.address.family == route.family && $0.isPending }
        return isPending ? .addressPending : .noAddress
    }

    private func reasonWithoutRoute(_ family: IPAddress.Family) -> UnsatisfiedReason {
        if table.operationalLinks.isEmpty { return .noInterface }
        return table.operationalAddresses(of: family).contains(where: \.isUsable) ? .noRoute : .noAddress
    }

    /// How far packets go where they do not reach the internet.
    private var localScope: NetworkPath.Scope {
        let addresses = IPAddress.Family.allCases.flatMap(table.operationalAddresses)
        if addresses.contains(where: { $0.isUsable && !$0.address.isLinkLocal }) { return .site }
        if addresses.contains(where: \.isUsableOnLink) { return .link }
        return table.links.values.contains { $0.flags.isSuperset(of: [.up, .loopback]) } ? .host : .none
    }

    /// Of two reasons the one that is nearer to a network; what is not known is farthest.
    static func nearest(_ left: UnsatisfiedReason?, _ right: UnsatisfiedReason?) -> UnsatisfiedReason {
        let order = UnsatisfiedReason.allCases
        let known = [left, right].compactMap { $0 }.filter { $0 != .unknown }
        return known.max { order.firstIndex(of: $0) ?? 0 < order.firstIndex(of: $1) ?? 0 } ?? .unknown
    }
}

extension IPAddress {
    /// Whether a socket can reach the internet from this address. IPv4's link-local addresses count, because some
    /// clouds give them a default route; so do unique local ones, which may stand behind a translator.
    fileprivate var isUsableSource: Bool {
        !isUnspecified && !isLoopback && !(family == .ipv6 && isLinkLocal)
    }
}

extension AddressRecord {
    /// Whether neighbours can be reached from the address.
    fileprivate var isUsableOnLink: Bool {
        isUsable || (address.isLinkLocal && flags.isDisjoint(with: [.tentative, .duplicate]))
    }
}
