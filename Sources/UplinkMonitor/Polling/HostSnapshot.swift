// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// Derives the path from what can be seen of the network without netlink, with the same decision table. Pure.
///
/// What cannot be seen is nil; if that leaves a doubt, the network counts as available.
struct HostSnapshot: Sendable {
    /// An interface (netdevice(7)).
    struct Link: Sendable, Equatable {
        var index: UInt32
        var name: String
        var flags: UInt32
        var hardwareType: UInt16
        var mtu: UInt32
        /// What sysfs says about the device.
        var device = DeviceTypes.Device()

        /// Whether packets could leave by it if it had a carrier.
        var carriesPackets: Bool {
            let flags = LinkRecord.Flags(rawValue: flags)
            return flags.contains(.up) && !flags.contains(.loopback)
        }
    }

    /// What the kernel says about a probe.
    enum Verdict: Sendable, Equatable {
        /// It would send packets from this address; nil if that is not known.
        case source(IPAddress?)
        /// It would send none.
        case refused(CInt)
        /// It cannot be asked.
        case unknown
    }

    var links: [Link] = []
    var ipv4Addresses: [(name: String, address: IPAddress)]?
    var ipv6Addresses: [AddressRecord]?
    var ipv4Routes: [HostTables.Route]?
    var ipv6Routes: [HostTables.Route]?
    /// In the order of the probes.
    var verdicts: [Verdict] = []

    /// Returns the path; `probes` are those that were asked about, or the one destination.
    ///
    /// - Parameter hints: What the program knows about interfaces.
    func path(
        probes: [IPAddress], destination: IPAddress? = nil, hints: ((NetworkInterface) -> InterfaceHints)? = nil
    ) -> NetworkPath {
        let table = table
        var verdicts: [IPAddress.Family: [RouteVerdict]] = [:]
        var isInDoubt: Set<IPAddress.Family> = []
        for (probe, verdict) in zip(probes, self.verdicts) {
            if let known = routeVerdict(verdict, on: probe, table) {
                verdicts[probe.family, default: []].append(known)
            } else {
                isInDoubt.insert(probe.family)
            }
        }
        let evaluation = PathEvaluation(table: table, destination: destination, verdicts: verdicts)
        var path = evaluation.path
        if !path.isSatisfied { for family in isInDoubt { path.assumeAvailable(family, by: evaluation) } }
        for var interface in interfaces(of: path, table) {
            let hints = hints?(interface) ?? InterfaceHints()
            interface.isMetered = hints.isMetered ?? interface.isMetered
            if hints.isConstrained == true { path.isConstrained = true }
            path.interfaces.append(interface)
        }
        path.isExpensive = path.interfaces.contains(where: \.isMetered)
        path.isAuthoritative = false
        return path
    }

    /// All links and addresses, as netlink would have reported them.
    var table: InterfaceTable {
        var table = InterfaceTable()
        for link in links {
            var flags = LinkRecord.Flags(rawValue: link.flags)
            if flags.contains(.running) { flags.insert(.lowerUp) }  // which does not fit into 16 bits
            table.update(
                LinkRecord(
                    index: link.index, name: link.name, flags: flags, hardwareType: link.hardwareType, mtu: link.mtu))
        }
        for (name, address) in ipv4Addresses ?? [] {
            let label = name.prefix { $0 != ":" }  // `eth0:1` is a label of `eth0`
            guard let link = links.first(where: { $0.name == name || $0.name == label }) else { continue }
            let length = prefixLength(of: address, on: link.name)
            table.update(AddressRecord(index: link.index, address: address, prefixLength: length, flags: []))
        }
        for address in ipv6Addresses ?? [] { table.append(address) }
        return table
    }

    /// The length of an IPv4 address's prefix, by the route to its network that comes with it.
    private func prefixLength(of address: IPAddress, on interface: String) -> UInt8 {
        let own = (ipv4Routes ?? []).filter { $0.interface == interface && $0.gateway == nil && $0.prefixLength > 0 }
        return own.filter { $0.covers(address) }.map(\.prefixLength).max() ?? 32
    }

    /// Returns nil if nothing can be said.
    private func routeVerdict(_ verdict: Verdict, on probe: IPAddress, _ table: InterfaceTable) -> RouteVerdict? {
        switch verdict {
        case .refused(EADDRNOTAVAIL): return RouteVerdict.none
        case .refused(let errno):
            let told = RouteVerdict(errno: errno)
            if case .unknown = told { return routeVerdict(.unknown, on: probe, table) }  // a sandbox, or no memory
            return told
        case .unknown:
            guard let routes = routes(of: probe.family) else { return nil }
            guard let route = Self.best(routes, for: probe, from: nil) else {
                return routes.allSatisfy { $0.sourceLength == 0 } ? RouteVerdict.none : nil
            }
            guard let link = links.first(where: { $0.name == route.interface }) else { return nil }
            let source = table.addresses(of: link.index).first { $0.address.family == probe.family && $0.isUsable }
            return source.map { .unicast(record(for: probe, through: link, route, $0.address)) }
        case .source(let source):
            let route = routes(of: probe.family).flatMap { Self.best($0, for: probe, from: source) }
            let routed = links.first { $0.name == route?.interface }
            guard let link = egress(to: probe, from: source, routed: routed, table) else { return nil }
            let record = record(for: probe, through: link, link.index == routed?.index ? route : nil, source)
            return link.flags & LinkRecord.Flags.loopback.rawValue != 0 ? .local(record) : .unicast(record)
        }
    }

    /// The interface that packets leave by. The tables do not say which route decided.
    ///
    /// - Parameter routed: The interface of the tables' best route.
    private func egress(to probe: IPAddress, from source: IPAddress?, routed: Link?, _ table: InterfaceTable) -> Link? {
        if probe == source || probe.isLoopback,
            let loopback = links.first(where: { $0.flags & LinkRecord.Flags.loopback.rawValue != 0 })
        {
            return loopback  // an address of this host, whatever becomes of the interface that has it
        }
        let owners = links.filter { link in table.addresses(of: link.index).contains { $0.address == source } }
        if owners.isEmpty || owners.contains(where: { $0.index == routed?.index }) { return routed }
        // Another table's route decided, and the source shows which interface it leads through.
        if let owner = owners.first(where: \.carriesPackets) { return owner }
        // But the kernel also sends from addresses of interfaces that carry nothing, such as the loopback.
        return routed ?? owners.last
    }

    private func record(
        for probe: IPAddress, through link: Link, _ route: HostTables.Route?, _ source: IPAddress?
    ) -> RouteRecord {
        RouteRecord(
            family: probe.family, kind: .unicast, prefixLength: route?.prefixLength ?? 0, table: 0,
            interfaceIndex: link.index, gateway: route?.gateway, source: source, metric: route?.metric ?? 0)
    }

    private func routes(of family: IPAddress.Family) -> [HostTables.Route]? {
        switch family {
        case .ipv4: ipv4Routes
        case .ipv6: ipv6Routes
        }
    }

    /// Returns the best route: the longest prefix wins, then the longest source prefix, then the lowest metric.
    private static func best(
        _ routes: [HostTables.Route], for address: IPAddress, from source: IPAddress?
    ) -> HostTables.Route? {
        routes.filter { $0.destination.family == address.family && $0.covers(address) && $0.interface != "lo" }
            .filter { $0.isOpen(to: source) }
            .min { ($1.prefixLength, $1.sourceLength, $0.metric) < ($0.prefixLength, $0.sourceLength, $1.metric) }
    }

    private func classify(_ link: LinkRecord) -> DeviceClass {
        DeviceClass(link, links.first { $0.index == link.index }?.device ?? .init())
    }

    private func interfaces(of path: NetworkPath, _ table: InterfaceTable) -> [NetworkInterface] {
        let used = [path.ipv4, path.ipv6].filter(\.isAvailable).compactMap(\.interfaceIndex)
        return used.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }.compactMap { table.links[$0] }.map {
            link in
            let kind = classify(link)
            return NetworkInterface(
                name: link.name, index: link.index, kind: kind.kind,
                addresses: table.addresses(of: link.index).filter(\.isUsable).map(\.address), mtu: link.mtu,
                isMetered: kind.isMetered)
        }
    }
}

extension HostTables.Route {
    fileprivate func covers(_ address: IPAddress) -> Bool {
        RouteRecord(
            family: destination.family, kind: .unicast, destination: destination, prefixLength: prefixLength, table: 0
        ).covers(address)
    }

    /// Whether packets with this source may take the route; false if the route is for certain sources and this one is
    /// not known.
    fileprivate func isOpen(to source: IPAddress?) -> Bool {
        guard sourceLength > 0, let prefix = self.source else { return true }
        return source.map { prefix.sharesPrefix(ofLength: Int(sourceLength), with: $0) } ?? false
    }
}

extension NetworkPath {
    /// Treats a family as available, because nothing is known against it.
    fileprivate mutating func assumeAvailable(_ family: IPAddress.Family, by evaluation: PathEvaluation) {
        var way = self[family]
        guard way.unsatisfiedReason == .unknown || way.isAvailable else { return }
        way.isAvailable = true
        way.unsatisfiedReason = nil
        self[family] = way
        (status, unsatisfiedReason) = (.satisfied, nil)
        scope = evaluation.scope(of: self)
    }
}
