// SPDX-License-Identifier: Apache-2.0
import CNetlink
import Glibc
package import UplinkCore

/// The kernel's network as two sockets show it: one that tells of changes, one that answers questions.
///
/// The shell around ``InterfaceTable`` and ``PathEvaluation``. Belongs to the loop's thread.
package final class KernelNetwork {
    /// Events that are read before others may use the loop again.
    private static let eventsPerTurn = 2048
    /// How often a dump is repeated because something changed meanwhile. Events make up for the rest.
    private static let dumpAttempts = 5
    /// How often the kernel is asked again because a route and its link did not fit together.
    private static let verdictAttempts = 3

    private let probes: [IPAddress]
    private let query: NetlinkQuery
    private let events: EventSocket
    private var deviceTypes = DeviceTypes()
    /// Messages were lost, and stock has not been taken since.
    private var hasGaps = false
    private(set) var table = InterfaceTable()
    private(set) var statistics = MonitorStatistics()
    /// When a route of the path asked for last expires, if one does. The kernel says so up to half a minute late.
    private(set) var timeToExpiry: Duration?

    /// Opens the sockets, and takes stock.
    convenience init(_ configuration: LinuxNetworkMonitor.Configuration) throws(NetlinkError) {
        let probes = configuration.ipv4Probes + configuration.ipv6Probes
        let socket = try NetlinkSocket.forEvents(
            receiveBufferSize: configuration.receiveBufferSize,
            aboutRoutesTo: configuration.kernelFilter ? probes : nil)
        try self.init(configuration, events: socket, query: NetlinkQuery())
        (eventDescriptor, eventPort) = (socket.descriptor, socket.port)
    }

    /// A network whose events and answers come from stand-ins. Takes stock.
    package convenience init(
        _ configuration: LinuxNetworkMonitor.Configuration, events: any NetlinkTransport, query: any NetlinkTransport
    ) throws(NetlinkError) {
        try self.init(configuration, events: events, query: NetlinkQuery(over: query))
    }

    private init(
        _ configuration: LinuxNetworkMonitor.Configuration, events: any NetlinkTransport, query: NetlinkQuery
    ) throws(NetlinkError) {
        probes = configuration.ipv4Probes + configuration.ipv6Probes
        self.events = EventSocket(over: events)
        self.query = query
        try takeStock()
    }

    /// Readable when the kernel tells of a change.
    private(set) var eventDescriptor: CInt = -1

    /// The port of the event socket, for tests that forge messages.
    private(set) var eventPort: UInt32 = 0

    /// Reads what the kernel tells; whether any of it may have changed the path.
    package func readEvents() throws(NetlinkError) -> Bool {
        var isRelevant = false
        let drained = try events.drain(limit: Self.eventsPerTurn) { event in
            statistics.messages += 1
            if take(event) { isRelevant = true }
        }
        if drained.hasGaps { hasGaps = true }
        if hasGaps, drained.isEmpty {
            try resync()
            return true
        }
        return isRelevant || hasGaps
    }

    /// Reads all links and addresses anew, because messages about them may be missing.
    func resync() throws(NetlinkError) {
        statistics.resyncs += 1
        try takeStock()
        hasGaps = false
    }

    /// Asks the kernel for the path as it is now: without the list of interfaces, which is long to ask for.
    package func path() throws(NetlinkError) -> NetworkPath {
        statistics.evaluations += 1
        timeToExpiry = nil
        var verdicts: [IPAddress.Family: [RouteVerdict]] = [:]
        for (probe, verdict) in zip(probes, try settledVerdicts()) {
            verdicts[probe.family, default: []].append(verdict)
            if probe.family == .ipv6, verdict.route != nil { try noteExpiry(of: probe) }
        }
        return PathEvaluation(table: table, verdicts: verdicts, classify: classify).path
    }

    /// The path with the interfaces that lead to the internet: the one in use first, then by metric.
    package func completed(_ path: NetworkPath) throws(NetlinkError) -> NetworkPath {
        guard path.isSatisfied else { return path }
        let used = [path.ipv4, path.ipv6].filter(\.isAvailable).compactMap(\.interfaceIndex)
        var candidates: [(rank: Int, metric: UInt32, link: LinkRecord)] = []
        for link in table.operationalLinks {
            let rank = used.firstIndex(of: link.index) ?? used.count
            let metric = rank < used.count ? 0 : try defaultMetric(of: link)
            if let metric { candidates.append((rank, metric, link)) }
        }
        candidates.sort { ($0.rank, $0.metric, $0.link.index) < ($1.rank, $1.metric, $1.link.index) }
        var path = path
        path.interfaces = candidates.map { interface($0.link) }
        return path
    }

    /// What the kernel says of the probes, with the links that it names read anew.
    ///
    /// Routes and links are read one after the other. Where they do not fit together, because a link goes away at this
    /// moment and its routes after it, the kernel is asked again before the network is said to be lost.
    private func settledVerdicts() throws(NetlinkError) -> [RouteVerdict] {
        var verdicts = try askAboutProbes()
        for _ in 1..<Self.verdictAttempts {
            if try refreshLinks(of: verdicts) { return verdicts }
            let again = try askAboutProbes()
            if again == verdicts { return verdicts }
            verdicts = again
        }
        _ = try refreshLinks(of: verdicts)
        return verdicts
    }

    private func askAboutProbes() throws(NetlinkError) -> [RouteVerdict] {
        var verdicts: [RouteVerdict] = []
        for probe in probes { verdicts.append(try ask(.route(to: probe))) }
        return verdicts
    }

    /// Reads the links of routes anew; whether packets can leave through all of them.
    private func refreshLinks(of verdicts: [RouteVerdict]) throws(NetlinkError) -> Bool {
        var areOperational = true
        for index in Set(verdicts.compactMap(\.route?.interfaceIndex)) {
            if try !refreshLink(index) { areOperational = false }
        }
        return areOperational
    }

    /// Routes of IPv6 expire, as a router's advertisements say.
    private func noteExpiry(of probe: IPAddress) throws(NetlinkError) {
        guard let lifetime = try ask(.tableEntry(for: probe)).route?.lifetime else { return }
        timeToExpiry = min(timeToExpiry ?? lifetime, lifetime)
    }

    private func ask(_ request: NetlinkRequest) throws(NetlinkError) -> RouteVerdict {
        var route: RouteRecord?
        let reply = try query.ask(request) { header, payload in
            if Int(header.type) == Int(RTM_NEWROUTE) { route = RouteRecord(payload) }
        }
        switch reply {
        case .refused(let errno): return RouteVerdict(errno: errno)
        case .answered: return route.map { RouteVerdict($0) } ?? .unknown(EBADMSG)
        }
    }

    /// Reads one link anew; the table may be a second behind on it. Whether packets can leave through it.
    private func refreshLink(_ index: UInt32) throws(NetlinkError) -> Bool {
        var link: LinkRecord?
        _ = try query.ask(.links(index: index)) { header, payload in
            if Int(header.type) == Int(RTM_NEWLINK) { link = LinkRecord(payload) }
        }
        if let link { table.update(link) } else { table.removeLink(index) }
        return link?.isOperational ?? false
    }

    /// The metric of the route to the internet through a link, or nil where there is none that could be used.
    private func defaultMetric(of link: LinkRecord) throws(NetlinkError) -> UInt32? {
        for probe in probes where hasUsableAddress(link, of: probe.family) {
            if let route = try ask(.tableEntry(for: probe, through: link.index)).route { return route.metric }
        }
        return nil
    }

    private func hasUsableAddress(_ link: LinkRecord, of family: IPAddress.Family) -> Bool {
        table.addresses(of: link.index).contains { $0.address.family == family && $0.isUsable }
    }

    private func interface(_ link: LinkRecord) -> NetworkInterface {
        NetworkInterface(
            name: link.name, index: link.index, kind: classify(link).kind,
            addresses: table.addresses(of: link.index).filter(\.isUsable).map(\.address), mtu: link.mtu)
    }

    private func classify(_ link: LinkRecord) -> DeviceClass {
        DeviceClass(link, deviceType: deviceTypes.type(of: link))
    }

    /// Takes an event into the table; whether it may have changed the path.
    private func take(_ event: EventSocket.Event) -> Bool {
        switch event {
        case .link(let link): table.update(link)
        case .linkRemoved(let index):
            table.removeLink(index)
            deviceTypes.remove(index)
        case .address(let address): table.update(address)
        case .addressRemoved(let address): table.remove(address)
        case .route(let route): return probes.contains(where: route.covers)
        case .configuration: break
        }
        return true
    }

    /// Reads all links and addresses.
    private func takeStock() throws(NetlinkError) {
        deviceTypes = DeviceTypes()
        for _ in 0..<Self.dumpAttempts {
            var table = InterfaceTable()
            let links = try dump(.links()) { header, payload in
                if Int(header.type) == Int(RTM_NEWLINK), let link = LinkRecord(payload) { table.update(link) }
            }
            let addresses = try dump(.addresses) { header, payload in
                if Int(header.type) == Int(RTM_NEWADDR), let address = AddressRecord(payload) { table.update(address) }
            }
            self.table = table
            if links && addresses { return }
        }
    }

    private func dump(
        _ request: NetlinkRequest, _ body: (NetlinkHeader, RawSpan) -> Void
    ) throws(NetlinkError) -> Bool {
        switch try query.ask(request, body) {
        case .answered(let isConsistent): return isConsistent
        case .refused(let errno): throw NetlinkError(call: "reading links and addresses", errno: errno)
        }
    }
}
