// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the kernel says of the way to an address (`RTM_GETROUTE`).
enum RouteVerdict: Equatable {
    /// Packets leave by this route, if its link lets them.
    case unicast(RouteRecord)
    /// Packets stay on this host.
    case local
    /// No route leads there.
    case none
    /// A route or a rule forbids the way.
    case blocked
    /// The kernel refused the question itself.
    case unknown(CInt)

    init(_ route: RouteRecord) {
        switch route.kind {
        case .unicast: self = .unicast(route)
        case .blocking: self = .blocked
        case .other: self = .local
        }
    }

    /// The verdict that an error number tells. A family that the kernel does not have is one without routes.
    init(errno: CInt) {
        switch errno {
        case ENETUNREACH, ESRCH, EAFNOSUPPORT, EOPNOTSUPP: self = .none
        case EHOSTUNREACH, EACCES, EINVAL: self = .blocked
        default: self = .unknown(errno)
        }
    }

    /// The route that packets take, when there is one.
    var route: RouteRecord? {
        switch self {
        case .unicast(let route): route
        case .local, .none, .blocked, .unknown: nil
        }
    }
}
