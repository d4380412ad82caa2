// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CUplink
import UplinkCore

// The names are those of C; each function is documented in uplink.h.

@c @implementation
public func uplink_path_retain(_ path: OpaquePointer?) -> OpaquePointer? { PathBox.of(path)?.retained() }

@c @implementation
public func uplink_path_release(_ path: OpaquePointer?) { PathBox.release(path) }

@c @implementation
public func uplink_path_is_satisfied(_ path: OpaquePointer?) -> Bool { PathBox.of(path)?.path.isSatisfied ?? false }

@c @implementation
public func uplink_path_reason(_ path: OpaquePointer?) -> CInt { PathBox.of(path)?.path.unsatisfiedReason?.number ?? 0 }

@c @implementation
public func uplink_path_scope(_ path: OpaquePointer?) -> CInt { PathBox.of(path)?.path.scope.number ?? 0 }

@c @implementation
public func uplink_path_is_expensive(_ path: OpaquePointer?) -> Bool { PathBox.of(path)?.path.isExpensive ?? false }

@c @implementation
public func uplink_path_is_constrained(_ path: OpaquePointer?) -> Bool { PathBox.of(path)?.path.isConstrained ?? false }

@c @implementation
public func uplink_path_is_authoritative(_ path: OpaquePointer?) -> Bool {
    PathBox.of(path)?.path.isAuthoritative ?? false
}

@c @implementation
public func uplink_path_dns_is_reachable(_ path: OpaquePointer?) -> Bool {
    PathBox.of(path)?.path.dns.isReachable ?? false
}

@c @implementation
public func uplink_path_generation(_ path: OpaquePointer?) -> UInt64 { PathBox.of(path)?.path.generation ?? 0 }

@c @implementation
public func uplink_path_network_id(_ path: OpaquePointer?) -> UInt64 { PathBox.of(path)?.path.networkID ?? 0 }

@c @implementation
public func uplink_path_description(_ path: OpaquePointer?) -> UnsafePointer<CChar>? {
    PathBox.of(path).flatMap { $0.strings.text($0.path.description) }
}

@c @implementation
public func uplink_path_json(_ path: OpaquePointer?) -> UnsafePointer<CChar>? {
    PathBox.of(path).flatMap { $0.strings.text($0.path.json) }
}
