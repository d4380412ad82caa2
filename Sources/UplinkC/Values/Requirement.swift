// SPDX-License-Identifier: Apache-2.0
import CUplink
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
        let families = [(ipv4, IPAddress.Family.ipv4), (ipv6, .ipv6)].filter { values.flags & $0.0 != 0 }.map(\.1)
        for family in families { parts.append(family == .ipv4 ? .ipv4 : .ipv6) }
        if values.flags & localNetwork != 0 { parts.append(.localNetwork) }
        if values.flags & notMetered != 0 { parts.append(.notMetered) }
        let kind = try kind(values.interface_kind)
        let name = try values.interface_name.map { name throws(StatusError) in
            let name = try Text.read(name)
            guard NetworkInterface.canBeNamed(name) else { throw StatusError(Status.invalid) }
            return name
        }
        if kind != nil || name != nil { parts.append(way(of: families, through: kind, name)) }
        if values.stable_milliseconds > 0 { parts.append(.stable(for: .milliseconds(values.stable_milliseconds))) }
        guard let first = parts.first else { return .internet }
        return parts.dropFirst().reduce(first) { $0.and($1) }
    }

    /// A requirement of a way to the internet through one interface of this kind and with this name: the way of each
    /// family that is needed, or of any.
    private static func way(
        of families: [IPAddress.Family], through kind: NetworkInterface.Kind?, _ name: String?
    ) -> NetworkRequirement {
        let words = [name.map { "interface \($0)" }, kind.map { "interface of kind \($0.rawValue)" }]
        return .predicate(words.compactMap(\.self).joined(separator: " and ")) { path in
            func fits(_ family: IPAddress.Family) -> Bool {
                guard path[family].isAvailable else { return false }
                return path.interfaces.contains { interface in
                    interface.index == path[family].interfaceIndex && name.map { $0 == interface.name } ?? true
                        && kind.map { $0 == interface.kind } ?? true
                }
            }
            return families.isEmpty ? IPAddress.Family.allCases.contains(where: fits) : families.allSatisfy(fits)
        }
    }

    private static func kind(_ number: CInt) throws(StatusError) -> NetworkInterface.Kind? {
        if number == CInt(UPLINK_KIND_ANY.rawValue) { return nil }
        guard let kind = NetworkInterface.Kind.allCases.first(where: { $0.number == number }) else {
            throw StatusError(Status.invalid)
        }
        return kind
    }
}
