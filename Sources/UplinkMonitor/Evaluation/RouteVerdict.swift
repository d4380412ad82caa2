// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the kernel says about the route to an address (`RTM_GETROUTE`).
enum RouteVerdict: Equatable {
    /// Packets leave by this route, if its link allows it.
    case unicast(RouteRecord)
    /// Packets are for this host.
    case local(RouteRecord)
    /// Packets go to many hosts (broadcast, multicast), not to a single one.
    case toMany
    /// No route leads there.
    case none
    /// A route or a rule blocks the packets.
    case blocked
    /// The kernel refused the question itself.
    case unknown(CInt)

    init(_ route: RouteRecord) {
        switch route.kind {
        case .unicast: self = .unicast(route)
        case .blocking: self = .blocked
        case .local: self = .local(route)
        case .other: self = .toMany
        }
    }

    /// The verdict of an error number. A family that the kernel does not support counts as having no routes.
    init(errno: CInt) {
        switch errno {
        case ENETUNREACH, ESRCH, EAFNOSUPPORT, EOPNOTSUPP: self = .none
        case EHOSTUNREACH, EACCES, EINVAL: self = .blocked  // unreachable, prohibit, blackhole
        default: self = .unknown(errno)
        }
    }

    /// The verdict of an error number for a question that named an interface, which may have no route of its own.
    init(errnoThroughInterface errno: CInt) {
        self = errno == EHOSTUNREACH || errno == ENODEV ? .none : Self(errno: errno)
    }

    /// The route that packets take, if there is one.
    var route: RouteRecord? {
        switch self {
        case .unicast(let route): route
        case .local, .toMany, .none, .blocked, .unknown: nil
        }
    }

    /// The link that packets take, including the loopback.
    var interfaceIndex: UInt32? {
        switch self {
        case .unicast(let route), .local(let route): route.interfaceIndex
        case .toMany, .none, .blocked, .unknown: nil
        }
    }
}
