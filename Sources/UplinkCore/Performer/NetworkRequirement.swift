// SPDX-License-Identifier: Apache-2.0

/// What an operation needs of the network before it is worth starting.
public struct NetworkRequirement: Sendable {
    /// One reference instead of three values, since every waiting call holds one.
    private final class Storage: Sendable {
        let words: [String]
        let holds: (@Sendable (NetworkPath) -> Bool)?
        let stableTime: Duration

        init(_ words: [String], stableTime: Duration, _ holds: (@Sendable (NetworkPath) -> Bool)?) {
            (self.words, self.stableTime, self.holds) = (words, stableTime, holds)
        }
    }

    private let storage: Storage

    private init(_ description: String, _ holds: @escaping @Sendable (NetworkPath) -> Bool) {
        storage = Storage([description], stableTime: .zero, holds)
    }

    private init(_ storage: Storage) { self.storage = storage }

    /// A few words for messages, such as `IPv6`, or `interface wlan0, stable for 2.0 seconds`.
    public var description: String {
        let words = storage.words.isEmpty ? "internet" : storage.words.joined(separator: " and ")
        return stableTime > .zero ? "\(words), stable for \(stableTime)" : words
    }

    /// For how long the path must have been enough, without a break, before the operation starts.
    public var stableTime: Duration { storage.stableTime }

    /// Whether a path is enough; how long it has been so is not asked.
    public func isSatisfied(by path: NetworkPath) -> Bool { storage.holds?(path) ?? path.isSatisfied }

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

    /// A network that has been there for at least this long without a break, so that a flap does not start the operation.
    ///
    /// What has to be there is what this is joined to with ``and(_:)``, and the internet when it stands alone. The time
    /// counts from when a call sees the path for the first time, also if the network was there long before: a performer
    /// watches it only while calls wait. A break is also a gap in ``NetworkPath/generation``, since the path may have
    /// been away in it. The call's own limit holds all the while.
    ///
    /// - Parameter time: Zero and negative: no minimum.
    public static func stable(for time: Duration) -> Self { Self(Storage([], stableTime: max(time, .zero), nil)) }

    /// Whatever the closure says of a path; it is called often, from any thread, and must return at once.
    public static func predicate(
        _ description: String, _ isSatisfied: @escaping @Sendable (NetworkPath) -> Bool
    ) -> Self {
        Self(description, isSatisfied)
    }

    /// Both requirements at once; of two minimum stable times the longer.
    public func and(_ other: Self) -> Self {
        let holds: (@Sendable (NetworkPath) -> Bool)? =
            switch (storage.holds, other.storage.holds) {
            case (let mine?, let others?): { mine($0) && others($0) }
            case (let holds, nil), (nil, let holds): holds
            }
        return Self(
            Storage(
                storage.words + other.storage.words, stableTime: max(stableTime, other.stableTime), holds))
    }
}

extension NetworkRequirement: CustomStringConvertible {}
