// SPDX-License-Identifier: Apache-2.0
package import UplinkCore

extension KernelNetwork {
    /// An interface with the program's own hints about it.
    private struct Described {
        var interface: NetworkInterface
        var hints: InterfaceHints

        /// Whether something else carries its packets; a program may know that of an interface that looks like any.
        var isTunnel: Bool { interface.kind == .tunnel || hints.tunnelEndpoint != nil }
    }

    /// What carries a tunnel, and what follows for the tunnel.
    private struct Carrier {
        var underlying: NetworkInterface.Underlying
        var isMetered = false
        var isConstrained: Bool?
    }

    /// A route to the targets through one interface: the next hops, and its preference.
    private struct Way {
        var link: LinkRecord
        var metric: UInt32
        var gateways: [IPAddress]
    }

    /// Completes a path before it is published: adds all interfaces in order of preference, the states in the neighbour
    /// table, and the network's identity.
    package func completed(_ path: NetworkPath) throws(NetlinkError) -> NetworkPath {
        var path = path
        let ways = try alternatives(to: path)
        path.alternatives = ways.map { describe($0.link, gateways: $0.gateways).interface }
        if path.isSatisfied { path.interfaces += path.alternatives }
        let others = ways.prefix(Self.watchedAlternatives).flatMap { way in
            way.gateways.map { Neighbour(address: $0, interfaceIndex: way.link.index) }
        }
        let states = try states(of: Set([path.ipv4, path.ipv6].compactMap(\.nextHop) + others))
        for family in IPAddress.Family.allCases {
            path[family].gatewayState = path[family].nextHop.flatMap { states[$0] }
        }
        path.networkID = networkID(of: path)
        return path
    }

    /// The interfaces that are not in use and would work for a socket bound to one of them.
    private func alternatives(to path: NetworkPath) throws(NetlinkError) -> [Way] {
        guard case .any = binding else { return [] }
        return try ways(except: Set(path.interfaces.map(\.index)))
    }

    /// The number of alternatives whose routers are watched for answering.
    private static let watchedAlternatives = 16

    private func networkID(of path: NetworkPath) -> UInt64? {
        let family = [path.ipv4, path.ipv6].first(where: \.isAvailable)
        guard let family else { return nil }
        let record = family.source.flatMap { table.record(of: $0, on: family.interfaceIndex) }
        return NetworkIdentity.number(of: family, prefixLength: record.map { Int($0.prefixLength) } ?? 128)
    }
}

// MARK: In use

extension KernelNetwork {
    /// Adds the interfaces that available families use, and what follows from them.
    func describeInterfacesInUse(of path: inout NetworkPath) throws(NetlinkError) {
        var interfaces: [NetworkInterface] = []
        for family in [path.ipv4, path.ipv6] where family.isAvailable {
            guard let index = family.interfaceIndex, let link = table.links[index] else { continue }
            if let place = interfaces.firstIndex(where: { $0.index == index }) {
                interfaces[place].gateways += [family.gateway].compactMap { $0 }
                continue
            }
            var described = describe(link, gateways: [family.gateway].compactMap { $0 })
            if described.isTunnel, let carrier = try carrier(of: link, described.hints) {
                described.interface.underlying = carrier.underlying
                described.interface.isMetered =
                    described.hints.isMetered ?? (described.interface.isMetered || carrier.isMetered)
                described.hints.isConstrained = described.hints.isConstrained ?? carrier.isConstrained
            }
            interfaces.append(described.interface)
            if described.interface.isMetered { path.isExpensive = true }
            if described.hints.isConstrained == true { path.isConstrained = true }
        }
        path.interfaces = interfaces
    }

    /// Returns what carries a tunnel. If the far end is known, the kernel is asked for the route to it. Otherwise the
    /// carrier must be the other interface with a route to the internet, if there is only one.
    private func carrier(
        of tunnel: LinkRecord, _ hints: InterfaceHints
    ) throws(NetlinkError) -> Carrier? {
        let endpoint = hints.tunnelEndpoint ?? tunnel.remote
        if let endpoint {
            watch([endpoint])
            let way = try way(of: Flow(destination: endpoint, transport: .udp))
            if way.interfaceIndex != tunnel.index { return carrier(endpoint, way) }
        }
        let ways = try ways(except: [tunnel.index]).filter { classify($0.link).kind != .tunnel }
        guard ways.count == 1, let only = ways.first else { return nil }
        for target in configuration.targets {
            let way = try way(of: flow(to: target).through(only.link.index))
            if way.isAvailable { return carrier(endpoint, way) }
        }
        return nil
    }

    private func carrier(_ endpoint: IPAddress?, _ way: FamilyPath) -> Carrier {
        let link = way.interfaceIndex.flatMap { table.links[$0] }
        guard let link else { return Carrier(underlying: .init(endpoint: endpoint, kind: nil, path: way)) }
        let described = describe(link)
        return Carrier(
            underlying: .init(endpoint: endpoint, kind: described.interface.kind, path: way),
            isMetered: described.interface.isMetered, isConstrained: described.hints.isConstrained)
    }

    private func describe(_ link: LinkRecord, gateways: [IPAddress] = []) -> Described {
        let device = classify(link)
        var interface = NetworkInterface(
            name: link.name, index: link.index, kind: device.kind,
            addresses: usableAddresses(of: link), gateways: gateways,
            mtu: link.mtu, isMetered: device.isMetered)
        let hints = configuration.hints?(interface) ?? InterfaceHints()
        if let isMetered = hints.isMetered { interface.isMetered = isMetered }
        return Described(interface: interface, hints: hints)
    }
}

extension KernelNetwork {
    /// A link's addresses that can be a source, each once, even if it has several other ends.
    private func usableAddresses(of link: LinkRecord) -> [IPAddress] {
        var seen: Set<IPAddress> = []
        return table.addresses(of: link.index).filter { $0.isUsable && seen.insert($0.address).inserted }.map(\.address)
    }
}

// MARK: Not in use

extension KernelNetwork {
    /// The operational links with a usable address and routes of their own to the targets, by metric.
    private func ways(except used: Set<UInt32>) throws(NetlinkError) -> [Way] {
        var ways: [Way] = []
        for link in table.operationalLinks where !used.contains(link.index) {
            if let way = try way(through: link) { ways.append(way) }
        }
        return ways.sorted { ($0.metric, $0.link.index) < ($1.metric, $1.link.index) }
    }

    /// The routes through a link: those of a family count if there is one to each of its targets.
    private func way(through link: LinkRecord) throws(NetlinkError) -> Way? {
        var way: Way?
        for family in IPAddress.Family.allCases where hasUsableAddress(link, of: family) {
            let targets = configuration.targets.filter { $0.family == family }
            var routes: [RouteRecord] = []
            for target in targets {
                let flow = flow(to: target).through(link.index)
                guard let route = try answer(to: flow, by: kernel.entry(for:)).verdict.route else { break }
                routes.append(route)
            }
            guard let route = routes.first, let target = targets.first, routes.count == targets.count else { continue }
            let gateway = try route.interfaceIndex == nil ? leg(to: target, through: link)?.gateway : route.gateway
            let (metric, gateways) = (way?.metric ?? .max, way?.gateways ?? [])
            way = Way(
                link: link, metric: min(metric, route.metric), gateways: gateways + [gateway].compactMap { $0 })
        }
        return way
    }

    /// The leg over a link of a route that has several; the entry of such a route names none.
    private func leg(to target: IPAddress, through link: LinkRecord) throws(NetlinkError) -> RouteRecord? {
        try answer(to: flow(to: target).through(link.index)).verdict.route
    }

    func hasUsableAddress(_ link: LinkRecord, of family: IPAddress.Family) -> Bool {
        table.addresses(of: link.index).contains { $0.address.family == family && $0.isUsable }
    }
}

extension FamilyPath {
    /// The router that packets of the family go to first, or would if the link were up.
    fileprivate var nextHop: Neighbour? {
        guard let gateway, let interfaceIndex else { return nil }
        return Neighbour(address: gateway, interfaceIndex: interfaceIndex)
    }
}
