// SPDX-License-Identifier: Apache-2.0
import CNetlink
import Glibc
import UplinkCore

/// The socket on which the kernel reports changes.
///
/// It never blocks. When the kernel has to drop messages, it goes on delivering others and counts the dropped ones
/// (`NETLINK_NO_ENOBUFS`); without that option it would deliver nothing until the queue was empty, and libuv would stop
/// watching.
final class EventSocket {
    /// A message that may matter.
    enum Event {
        case link(LinkRecord)
        case linkRemoved(UInt32)
        case address(AddressRecord)
        case addressRemoved(AddressRecord)
        case route(RouteRecord)
        /// A neighbour that stops answering, answers again, or is removed.
        case neighbour(NeighbourRecord)
        /// Rules, next hops and settings of interfaces: the kernel has to be asked what changed.
        case configuration
    }

    /// The result of a reading.
    struct Drained {
        /// Whether everything there was has been read.
        var isEmpty = false
        /// Whether anything was lost on the way.
        var hasGaps = false
        /// The number of datagrams that the kernel has dropped since the previous reading.
        var dropped: UInt64 = 0
    }

    private let socket: any NetlinkTransport
    /// Datagrams dropped so far; nil if the kernel cannot say (gVisor), in which case an overrun is reported as an
    /// error.
    private var drops: UInt32?

    init(over socket: any NetlinkTransport) {
        self.socket = socket
        drops = try? socket.dropCount()
    }

    /// Makes the kernel drop routes that lead to none of these addresses, and neighbours that are none of these
    /// routers. If it cannot, they are ignored later.
    func watch(routesTo addresses: [IPAddress], _ nextHops: NextHops) {
        _ = socket.attach(
            RouteFilter(
                addresses, routers: nextHops.watched.map(\.address), silent: nextHops.silent.map(\.address)))
    }

    /// Reads the pending datagrams, up to `limit` of them.
    func drain(limit: Int, _ body: (Event) -> Void) throws(NetlinkError) -> Drained {
        var drained = Drained()
        reading: for _ in 0..<limit {
            switch try socket.receive() {
            case .datagram:
                let isWellFormed = socket.withDatagram { datagram in
                    NetlinkParser.forEachMessage(in: datagram) { header, payload in
                        if let event = Self.event(header, payload) { body(event) }
                    }
                }
                if !isWellFormed { drained.hasGaps = true }
            case .truncated, .overrun: drained.hasGaps = true
            case .foreign: continue
            case .empty:
                drained.isEmpty = true
                break reading
            }
        }
        if let before = drops, let now = try socket.dropCount() {
            if now != before { drained.hasGaps = true }
            drained.dropped = UInt64(now &- before)
            drops = now
        }
        return drained
    }

    /// Returns the event in a message, or nil if there is none.
    static func event(_ header: NetlinkHeader, _ payload: RawSpan) -> Event? {
        switch Int(header.type) {
        case Int(RTM_NEWLINK): LinkRecord(payload).map(Event.link)
        case Int(RTM_DELLINK): LinkRecord(payload).map { .linkRemoved($0.index) }
        case Int(RTM_NEWADDR): AddressRecord(payload).map(Event.address)
        case Int(RTM_DELADDR): AddressRecord(payload).map(Event.addressRemoved)
        case Int(RTM_NEWROUTE), Int(RTM_DELROUTE): RouteRecord(payload).map(Event.route)
        case Int(RTM_NEWNEIGH): NeighbourRecord(payload).map(Event.neighbour)
        case Int(RTM_DELNEIGH):
            NeighbourRecord(payload).map {
                .neighbour(NeighbourRecord(neighbour: $0.neighbour, isSilent: false, isRouter: $0.isRouter))
            }
        case Int(RTM_NEWRULE), Int(RTM_DELRULE), Int(RTM_NEWNEXTHOP), Int(RTM_DELNEXTHOP), Int(RTM_NEWNETCONF),
            Int(RTM_DELNETCONF):
            .configuration
        default: nil
        }
    }
}

extension NetlinkSocket {
    private static let groups = [
        RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
        RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF, RTNLGRP_NEXTHOP,
        RTNLGRP_NEIGH,
    ]

    /// Opens a socket on which the kernel reports changes.
    ///
    /// - Parameter addresses: If not nil, routes that lead to none of these addresses are not reported, and neighbours
    ///   only if they advertise themselves as routers. The filter is attached before the first event can arrive.
    static func forEvents(
        receiveBufferSize: Int, aboutRoutesTo addresses: [IPAddress]?
    ) throws(NetlinkError) -> NetlinkSocket {
        let socket = try NetlinkSocket(isBlocking: false)
        if (try? socket.dropCount()) != nil {  // without the count, an overrun must be reported as an error
            try? socket.set(NETLINK_NO_ENOBUFS, at: SOL_NETLINK, to: 1)
        }
        let size = CInt(clamping: receiveBufferSize)
        do { try socket.set(SO_RCVBUFFORCE, at: SOL_SOCKET, to: size) } catch {  // needs CAP_NET_ADMIN
            try socket.set(SO_RCVBUF, at: SOL_SOCKET, to: size)  // up to net.core.rmem_max
        }
        if let addresses { _ = socket.attach(RouteFilter(addresses)) }
        try socket.bindToAnyPort()
        try socket.joinGroups()
        return socket
    }

    /// Joins the groups. Every change from now on is reported.
    private func joinGroups() throws(NetlinkError) {
        for group in Self.groups {
            do { try set(NETLINK_ADD_MEMBERSHIP, at: SOL_NETLINK, to: CInt(group.rawValue)) } catch {
                if group == RTNLGRP_LINK { throw error }  // the others: a kernel without IPv6, rules or next hops
            }
        }
    }
}
