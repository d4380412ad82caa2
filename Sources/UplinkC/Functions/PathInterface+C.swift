// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CUplink
import UplinkCore

// The names are those of C; each function is documented in uplink.h.

@c @implementation
public func uplink_path_interface_count(_ path: OpaquePointer?) -> Int { PathBox.of(path)?.path.interfaces.count ?? 0 }

@c @implementation
public func uplink_path_interface_name(_ path: OpaquePointer?, _ interface: Int) -> UnsafePointer<CChar>? {
    PathBox.of(path).flatMap { $0.strings.text($0.interface(interface)?.name) }
}

@c @implementation
public func uplink_path_interface_index(_ path: OpaquePointer?, _ interface: Int) -> UInt32 {
    PathBox.of(path)?.interface(interface)?.index ?? 0
}

@c @implementation
public func uplink_path_interface_kind(_ path: OpaquePointer?, _ interface: Int) -> CInt {
    PathBox.of(path)?.interface(interface)?.kind.number ?? 0
}

@c @implementation
public func uplink_path_interface_mtu(_ path: OpaquePointer?, _ interface: Int) -> UInt32 {
    PathBox.of(path)?.interface(interface)?.mtu ?? 0
}

@c @implementation
public func uplink_path_interface_is_metered(_ path: OpaquePointer?, _ interface: Int) -> Bool {
    PathBox.of(path)?.interface(interface)?.isMetered ?? false
}

@c @implementation
public func uplink_path_interface_address_count(_ path: OpaquePointer?, _ interface: Int) -> Int {
    PathBox.of(path)?.interface(interface)?.addresses.count ?? 0
}

@c @implementation
public func uplink_path_interface_address(
    _ path: OpaquePointer?, _ interface: Int, _ address: Int
) -> UnsafePointer<CChar>? {
    PathBox.of(path).flatMap { box in
        guard let addresses = box.interface(interface)?.addresses, addresses.indices.contains(address) else {
            return nil
        }
        return box.strings.text(addresses[address].description)
    }
}

@c @implementation
public func uplink_path_alternative_count(_ path: OpaquePointer?) -> Int {
    PathBox.of(path)?.path.alternatives.count ?? 0
}

@c @implementation
public func uplink_path_alternative_name(_ path: OpaquePointer?, _ alternative: Int) -> UnsafePointer<CChar>? {
    PathBox.of(path).flatMap { box in
        let alternatives = box.path.alternatives
        return alternatives.indices.contains(alternative) ? box.strings.text(alternatives[alternative].name) : nil
    }
}

@c @implementation
public func uplink_path_resolver_count(_ path: OpaquePointer?) -> Int {
    PathBox.of(path)?.path.dns.resolvers.count ?? 0
}

@c @implementation
public func uplink_path_resolver_address(_ path: OpaquePointer?, _ resolver: Int) -> UnsafePointer<CChar>? {
    PathBox.of(path).flatMap { box in
        let resolvers = box.path.dns.resolvers
        return resolvers.indices.contains(resolver) ? box.strings.text(resolvers[resolver].text) : nil
    }
}
