// SPDX-License-Identifier: Apache-2.0
import CUplink
import Glibc
import UplinkCore

/// Requirements from C.
enum Requirement {
    private static let ipv4: UInt32 = 1 << 0
    private static let ipv6: UInt32 = 1 << 1
    private static let localNetwork: UInt32 = 1 << 2
    private static let notMetered: UInt32 = 1 << 3
    private static let known = ipv4 | ipv6 | localNetwork | notMetered

    /// Reads a requirement; nil means a way to the internet.
    static func read(_ pointer: UnsafePointer<uplink_requirement>?) throws(StatusError) -> NetworkRequirement {
        guard let pointer else { return .internet }
        let values = try Structure.read(pointer, atLeast: Structure.requirementSize)
        guard values.flags & ~known == 0, values.stable_milliseconds >= 0 else { throw StatusError(Status.invalid) }
        var parts: [NetworkRequirement] = []
        if values.flags & ipv4 != 0 { parts.append(.ipv4) }
        if values.flags & ipv6 != 0 { parts.append(.ipv6) }
        if values.flags & localNetwork != 0 { parts.append(.localNetwork) }
        if values.flags & notMetered != 0 { parts.append(.notMetered) }
        if let kind = try kind(values.interface_kind) { parts.append(.interfaceKind(kind)) }
        if let name = values.interface_name {
            parts.append(.interface(try Text.read(name, atMost: Int(IFNAMSIZ) - 1)))
        }
        if values.stable_milliseconds > 0 { parts.append(.stable(for: .milliseconds(values.stable_milliseconds))) }
        guard let first = parts.first else { return .internet }
        return parts.dropFirst().reduce(first) { $0.and($1) }
    }

    private static func kind(_ number: CInt) throws(StatusError) -> NetworkInterface.Kind? {
        if number == CInt(UPLINK_KIND_ANY.rawValue) { return nil }
        guard let kind = NetworkInterface.Kind.allCases.first(where: { $0.number == number }) else {
            throw StatusError(Status.invalid)
        }
        return kind
    }
}
