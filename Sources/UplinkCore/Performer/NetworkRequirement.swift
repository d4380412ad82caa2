// SPDX-License-Identifier: Apache-2.0

/// What an operation needs of the network before it is worth starting.
public struct NetworkRequirement: Sendable {
    /// A few words for messages, such as `IPv6` or `interface wlan0`.
    public let description: String
    private let holds: @Sendable (NetworkPath) -> Bool

    private init(_ description: String, _ holds: @escaping @Sendable (NetworkPath) -> Bool) {
        self.description = description
        self.holds = holds
    }

    /// Whether a path is enough.
    public func isSatisfied(by path: NetworkPath) -> Bool { holds(path) }

    /// A way to the internet over IPv4 or IPv6: the default.
    public static let internet = Self("internet") { $0.isSatisfied }

    /// A way to the internet over IPv4.
    public static let ipv4 = Self("IPv4") { $0.ipv4.isAvailable }

    /// A way to the internet over IPv6.
    public static let ipv6 = Self("IPv6") { $0.ipv6.isAvailable }

    /// A way to the internet over IPv4 and over IPv6.
    public static let bothFamilies = Self("IPv4 and IPv6") { $0.ipv4.isAvailable && $0.ipv6.isAvailable }

    /// A connected or routed network, be there a way to the internet or not. Link-local addresses are not enough.
    public static let localNetwork = Self("local network") { $0.scope >= .site }

    /// A way to the internet that goes through the interface of this name.
    public static func interface(_ name: String) -> Self {
        Self("interface \(name)") { $0.interfacesInUse.contains { $0.name == name } }
    }

    /// A way to the internet that goes through an interface of this kind.
    public static func interfaceKind(_ kind: NetworkInterface.Kind) -> Self {
        Self("interface of kind \(kind.rawValue)") { $0.interfacesInUse.contains { $0.kind == kind } }
    }

    /// A way to the internet that is not known to cost money or quota.
    public static let notMetered = Self("not metered") { $0.isSatisfied && !$0.isExpensive }

    /// Whatever the closure says of a path; it is called often, from any thread, and must return at once.
    public static func predicate(
        _ description: String, _ isSatisfied: @escaping @Sendable (NetworkPath) -> Bool
    ) -> Self {
        Self(description, isSatisfied)
    }

    /// Both requirements at once.
    public func and(_ other: Self) -> Self {
        Self("\(description) and \(other.description)") { holds($0) && other.holds($0) }
    }
}

extension NetworkRequirement: CustomStringConvertible {}
