// SPDX-License-Identifier: Apache-2.0
import CNetlink
import Glibc
import UplinkCore

/// The kernel's network as seen through two sockets: one reports changes, one answers questions.
///
/// The shell around ``InterfaceTable`` and ``PathEvaluation``. Belongs to the loop's thread.
package final class KernelNetwork {
    /// The most events that are read before others may use the loop again.
    private static let eventsPerTurn = 2048

    let configuration: LinuxNetworkMonitor.Configuration
    let kernel: KernelQuestions
    private let events: EventSocket
    private var deviceTypes = DeviceTypes()
    /// Whether messages were lost and links and addresses have not been read again since.
    private var hasGaps = false
    /// Whether messages were lost and a reading ended before the queue was found to be empty. The queue may happen to
    /// be empty already, and then no event would trigger reading everything again.
    private(set) var hasToReadOn = false
    /// The addresses for which changes of routes matter.
    private var watched: [IPAddress]
    /// The routers whose answering matters.
    private var nextHops = NextHops()
    /// The name servers that the system's resolver asks.
    private(set) var resolvers: [DNSConfiguration.Resolver] = []
    /// Whether the name servers are known or not wanted.
    private(set) var knowsResolvers: Bool

    private(set) var table = InterfaceTable()
    private(set) var statistics = MonitorStatistics()
    /// The time until a route of the last evaluation expires, if one does: the path's, or one to a name server. The
    /// kernel reports the expiry up to half a minute late.
    var timeToExpiry: Duration?
    /// The links that the last answers led to.
    var carriers: Set<UInt32> = []
    /// The links that have been read since the current question was put.
    private var freshLinks: Set<UInt32> = []

    /// Opens the sockets, and reads all links and addresses.
    convenience init(_ configuration: LinuxNetworkMonitor.Configuration) throws(NetlinkError) {
        let socket = try NetlinkSocket.forEvents(
            receiveBufferSize: configuration.receiveBufferSize,
            aboutRoutesTo: configuration.kernelFilter ? configuration.targets : nil)
        try self.init(configuration, events: socket, query: NetlinkQuery())
        (eventDescriptor, eventPort) = (socket.descriptor, socket.port)
    }

    /// Makes a network whose events and answers come from stand-ins, and reads all links and addresses.
    package convenience init(
        _ configuration: LinuxNetworkMonitor.Configuration, events: any NetlinkTransport, query: any NetlinkTransport
    ) throws(NetlinkError) {
        try self.init(configuration, events: events, query: NetlinkQuery(over: query))
    }

    private init(
        _ configuration: LinuxNetworkMonitor.Configuration, events: any NetlinkTransport, query: NetlinkQuery
    ) throws(NetlinkError) {
        self.configuration = configuration
        self.events = EventSocket(over: events)
        kernel = KernelQuestions(over: query)
        watched = configuration.targets
        knowsResolvers = configuration.resolverFile == nil
        try takeStock()
    }

    /// A descriptor that is readable when the kernel reports a change.
    private(set) var eventDescriptor: CInt = -1

    /// The port of the event socket, for tests that forge messages.
    private(set) var eventPort: UInt32 = 0

    /// Sets the current name servers. The path has to be evaluated again.
    func update(_ resolvers: [DNSConfiguration.Resolver]) {
        self.resolvers = resolvers
        knowsResolvers = true
        watch(resolvers.map(\.address))
    }

    /// From now on, changes of routes to these addresses also matter, in addition to those of the path.
    func watch(_ addresses: [IPAddress]) {
        let missing = Set(addresses).subtracting(watched)
        guard !missing.isEmpty else { return }
        if watched.count + missing.count > Self.watchedAddresses {
            watched = configuration.targets + resolvers.map(\.address)
        }
        watched += missing
        renewFilter()
    }

    /// From now on, it matters whether these routers answer. Returns whether there is a new one among them.
    func watch(_ hops: Set<Neighbour>) -> Bool {
        guard nextHops.watch(hops) else { return false }
        renewFilter()
        return true
    }

    private func renewFilter() {
        if configuration.kernelFilter { events.watch(routesTo: watched, nextHops) }
    }

    /// The most addresses to keep; beyond that, those watched earlier are forgotten.
    private static let watchedAddresses = 64
}

// MARK: Events

extension KernelNetwork {
    /// Reads pending events; returns whether any of them may have changed the path.
    package func readEvents() throws(NetlinkError) -> Bool {
        var isRelevant = false
        let hops = nextHops
        let drained = try events.drain(limit: Self.eventsPerTurn) { event in
            statistics.messages += 1
            if take(event) { isRelevant = true }
        }
        if nextHops != hops { renewFilter() }
        statistics.dropped += drained.dropped
        if drained.hasGaps { hasGaps = true }
        hasToReadOn = hasGaps && !drained.isEmpty
        if hasGaps, drained.isEmpty {
            try resync()
            return true
        }
        return isRelevant || hasGaps
    }

    /// Reads all links and addresses again, because messages about them may be missing.
    func resync() throws(NetlinkError) {
        statistics.resyncs += 1
        try takeStock()
    }

    /// Applies an event to the table; returns whether it may have changed the path.
    private func take(_ event: EventSocket.Event) -> Bool {
        switch event {
        case .link(let link): table.update(link)
        case .linkRemoved(let index): removeLink(index)
        case .address(let address):
            // If a router advertises another lifetime, the kernel only says that the addresses are there.
            let isAdvertisement = address.address.family == .ipv6 && timeToExpiry != nil
            return table.update(address) || isAdvertisement
        case .addressRemoved(let address): table.remove(address)
        case .route(let route): return watched.contains(where: route.covers)
        case .neighbour(let record): return nextHops.take(record)
        case .configuration: break
        }
        return true
    }

    /// Returns what the neighbour table says about routers. From now on it matters whether they answer.
    func states(of hops: Set<Neighbour>) throws(NetlinkError) -> [Neighbour: FamilyPath.GatewayState] {
        _ = watch(hops)
        let silent = nextHops.silent
        var states: [Neighbour: FamilyPath.GatewayState] = [:]
        for hop in hops {
            let state = try kernel.state(of: hop.address, on: hop.interfaceIndex)
            states[hop] = state
            // Only an event says that one answers again, because that may change the path.
            if state == .failed { _ = nextHops.take(NeighbourRecord(neighbour: hop, isSilent: true)) }
        }
        if nextHops.silent != silent { renewFilter() }
        return states
    }

    private func takeStock() throws(NetlinkError) {
        deviceTypes = DeviceTypes()
        // An entry that the dump missed because it changed has an event. One that was only skipped, because it came
        // after that entry in the kernel's list, has none. Nor is all known where older messages are still to be read.
        let (table, isWhole) = try kernel.interfaces()
        (self.table, hasGaps) = (table, !isWhole || hasToReadOn)
    }

    private func removeLink(_ index: UInt32) {
        table.removeLink(index)
        deviceTypes.remove(index)
    }
}

// MARK: Links

extension KernelNetwork {
    func classify(_ link: LinkRecord) -> DeviceClass { DeviceClass(link, deviceTypes.device(of: link)) }

    /// Begins a question: what was read before does not count as fresh.
    func beginQuestion() {
        statistics.evaluations += 1
        timeToExpiry = nil
        freshLinks.removeAll(keepingCapacity: true)
    }

    /// Reads links that have not been read since the question was put, because the table may be a second behind for
    /// them.
    ///
    /// - Returns: Whether packets can leave through all of them.
    @discardableResult
    func refresh(_ links: Set<UInt32>) throws(NetlinkError) -> Bool {
        for index in links.subtracting(freshLinks) {
            if let link = try kernel.link(index) { table.update(link) } else { removeLink(index) }
            freshLinks.insert(index)
        }
        return links.allSatisfy { table.links[$0]?.isOperational == true }
    }

    /// Makes all links be read again.
    func distrustLinks() { freshLinks.removeAll(keepingCapacity: true) }
}
