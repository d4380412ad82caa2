// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CUplink
import UplinkCore

// The names are those of C; each function is documented in uplink.h.

@c @implementation
public func uplink_path_family_is_available(_ path: OpaquePointer?, _ family: CInt) -> Bool {
    PathBox.of(path)?.family(family)?.isAvailable ?? false
}

@c @implementation
public func uplink_path_family_reason(_ path: OpaquePointer?, _ family: CInt) -> CInt {
    PathBox.of(path)?.family(family)?.unsatisfiedReason?.number ?? 0
}

@c @implementation
public func uplink_path_family_interface(_ path: OpaquePointer?, _ family: CInt) -> UnsafePointer<CChar>? {
    PathBox.of(path).flatMap { $0.strings.text($0.family(family)?.interface) }
}

@c @implementation
public func uplink_path_family_gateway(_ path: OpaquePointer?, _ family: CInt) -> UnsafePointer<CChar>? {
    PathBox.of(path).flatMap { $0.strings.text($0.family(family)?.gateway?.description) }
}

@c @implementation
public func uplink_path_family_source(_ path: OpaquePointer?, _ family: CInt) -> UnsafePointer<CChar>? {
    PathBox.of(path).flatMap { $0.strings.text($0.family(family)?.source?.description) }
}

@c @implementation
public func uplink_path_family_is_degraded(_ path: OpaquePointer?, _ family: CInt) -> Bool {
    PathBox.of(path)?.family(family)?.isDegraded ?? false
}

@c @implementation
public func uplink_path_family_gateway_state(_ path: OpaquePointer?, _ family: CInt) -> CInt {
    PathBox.of(path)?.family(family)?.gatewayState?.number ?? 0
}
