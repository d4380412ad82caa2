// SPDX-License-Identifier: Apache-2.0
import CNetlink
import Glibc
import UplinkCore

/// The monitor's questions to the kernel, with the answers as values. Each takes microseconds.
final class KernelQuestions {
    /// How often a dump is repeated because something changed meanwhile.
    private static let dumpAttempts = 5

    private let query: NetlinkQuery

    init(over query: NetlinkQuery) { self.query = query }

    /// Returns the route that packets would take.
    func verdict(on flow: Flow) throws(NetlinkError) -> RouteVerdict {
        if flow.interface != nil {  // IPv4 would invent a route
            switch try entry(for: flow) {
            case .unicast, .local: break  // perhaps with several next hops, and no interface of its own
            case let verdict: return verdict
            }
        }
        return try ask(.route(of: flow), flow)
    }

    /// The entry of the routing table that packets would match.
    func entry(for flow: Flow) throws(NetlinkError) -> RouteVerdict { try ask(.tableEntry(of: flow), flow) }

    /// Whether a policy rule makes packets unreachable, which the kernel does not distinguish from having no route.
    func isUnreachableByRule(_ flow: Flow, interface: String?) throws(NetlinkError) -> Bool {
        let user = geteuid()  // the owner of the sockets if the question names no user
        var isUnreachable = false
        _ = try query.ask(.rules(of: flow.destination.family)) { header, payload in
            guard Int(header.type) == Int(RTM_NEWRULE), let rule = RuleRecord(payload) else { return }
            if rule.forbids(flow, interface: interface, user: user) { isUnreachable = true }
        }
        return isUnreachable
    }

    /// Returns a link's current state, or nil if it is gone.
    ///
    /// The answer waits until processes that are changing the network have finished (the kernel's RTNL lock). Questions
    /// asked after it therefore see a change in full and not half of it: the kernel reports that an IPv4 address is
    /// gone before it removes the routes.
    func link(_ index: UInt32) throws(NetlinkError) -> LinkRecord? {
        var link: LinkRecord?
        let reply = try query.ask(.links(index: index)) { header, payload in
            if Int(header.type) == Int(RTM_NEWLINK) { link = LinkRecord(payload) }
        }
        if case .refused(let errno) = reply, errno != ENODEV {
            throw NetlinkError(call: "reading a link", errno: errno)
        }
        return link
    }

    /// Returns what the neighbour table says about a next hop.
    func state(of gateway: IPAddress, on interface: UInt32) throws(NetlinkError) -> FamilyPath.GatewayState {
        var state = FamilyPath.GatewayState.unknown
        _ = try query.ask(.neighbour(gateway, on: interface)) { header, payload in
            guard Int(header.type) == Int(RTM_NEWNEIGH) else { return }
            state = payload.integer(at: 8, as: UInt16.self).map(FamilyPath.GatewayState.init(kernel:)) ?? .unknown
        }
        return state
    }

    /// Returns all links and addresses, and whether they are complete: if something changes all the time, some may be
    /// missing.
    func interfaces() throws(NetlinkError) -> (table: InterfaceTable, isWhole: Bool) {
        var table = InterfaceTable()
        for _ in 0..<Self.dumpAttempts {
            table = InterfaceTable()
            let links = try dump(.links()) { header, payload in
                if Int(header.type) == Int(RTM_NEWLINK), let link = LinkRecord(payload) { table.update(link) }
            }
            let addresses = try dump(.addresses) { header, payload in
                if Int(header.type) == Int(RTM_NEWADDR), let address = AddressRecord(payload) { table.append(address) }
            }
            if links && addresses { return (table, true) }
        }
        return (table, false)
    }

    private func ask(_ request: NetlinkRequest, _ flow: Flow) throws(NetlinkError) -> RouteVerdict {
        var route: RouteRecord?
        let reply = try query.ask(request) { header, payload in
            if Int(header.type) == Int(RTM_NEWROUTE) { route = RouteRecord(payload) }
        }
        switch reply {
        case .refused(let errno):
            return flow.interface == nil ? RouteVerdict(errno: errno) : RouteVerdict(errnoThroughInterface: errno)
        case .answered: return route.map { RouteVerdict($0) } ?? .unknown(EBADMSG)
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

extension FamilyPath.GatewayState {
    /// Makes a state from the kernel's `NUD_…` value.
    init(kernel state: UInt16) {
        switch Int32(state) {
        case NUD_REACHABLE: self = .reachable
        case NUD_STALE: self = .stale
        case NUD_INCOMPLETE, NUD_DELAY, NUD_PROBE: self = .probing
        case NUD_FAILED: self = .failed
        case NUD_NOARP, NUD_PERMANENT: self = .permanent
        default: self = .unknown
        }
    }
}
