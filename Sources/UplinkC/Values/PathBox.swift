// SPDX-License-Identifier: Apache-2.0
import CUplink
import UplinkCore

/// A path as C programs hold it.
final class PathBox: Sendable {
    let path: NetworkPath
    let strings = CStrings()

    init(_ path: NetworkPath) { self.path = path }

    func family(_ number: CInt) -> FamilyPath? {
        switch number {
        case CInt(UPLINK_IPV4.rawValue): path.ipv4
        case CInt(UPLINK_IPV6.rawValue): path.ipv6
        default: nil
        }
    }

    func interface(_ index: Int) -> NetworkInterface? {
        path.interfaces.indices.contains(index) ? path.interfaces[index] : nil
    }
}

extension UnsatisfiedReason {
    /// The reason as an `uplink_reason`.
    var number: CInt {
        switch self {
        case .noInterface: CInt(UPLINK_REASON_NO_INTERFACE.rawValue)
        case .noAddress: CInt(UPLINK_REASON_NO_ADDRESS.rawValue)
        case .noRoute: CInt(UPLINK_REASON_NO_ROUTE.rawValue)
        case .blocked: CInt(UPLINK_REASON_BLOCKED.rawValue)
        case .linkDown: CInt(UPLINK_REASON_LINK_DOWN.rawValue)
        case .linkDormant: CInt(UPLINK_REASON_LINK_DORMANT.rawValue)
        case .addressPending: CInt(UPLINK_REASON_ADDRESS_PENDING.rawValue)
        case .unknown: CInt(UPLINK_REASON_UNKNOWN.rawValue)
        }
    }
}

extension NetworkPath.Scope {
    /// The scope as an `uplink_scope`.
    var number: CInt {
        switch self {
        case .none: CInt(UPLINK_SCOPE_NONE.rawValue)
        case .host: CInt(UPLINK_SCOPE_HOST.rawValue)
        case .link: CInt(UPLINK_SCOPE_LINK.rawValue)
        case .site: CInt(UPLINK_SCOPE_SITE.rawValue)
        case .global: CInt(UPLINK_SCOPE_GLOBAL.rawValue)
        }
    }
}

extension NetworkInterface.Kind {
    /// The kind as an `uplink_kind`.
    var number: CInt {
        switch self {
        case .ethernet: CInt(UPLINK_KIND_ETHERNET.rawValue)
        case .wifi: CInt(UPLINK_KIND_WIFI.rawValue)
        case .cellular: CInt(UPLINK_KIND_CELLULAR.rawValue)
        case .tunnel: CInt(UPLINK_KIND_TUNNEL.rawValue)
        case .bridge: CInt(UPLINK_KIND_BRIDGE.rawValue)
        case .loopback: CInt(UPLINK_KIND_LOOPBACK.rawValue)
        case .other: CInt(UPLINK_KIND_OTHER.rawValue)
        }
    }
}

extension FamilyPath.GatewayState {
    /// The state as an `uplink_gateway_state`.
    var number: CInt {
        switch self {
        case .reachable: CInt(UPLINK_GATEWAY_REACHABLE.rawValue)
        case .stale: CInt(UPLINK_GATEWAY_STALE.rawValue)
        case .probing: CInt(UPLINK_GATEWAY_PROBING.rawValue)
        case .failed: CInt(UPLINK_GATEWAY_FAILED.rawValue)
        case .permanent: CInt(UPLINK_GATEWAY_PERMANENT.rawValue)
        case .unknown: CInt(UPLINK_GATEWAY_UNKNOWN.rawValue)
        }
    }
}
