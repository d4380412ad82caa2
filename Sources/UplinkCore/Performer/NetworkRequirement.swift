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

    /// Whether it is ``internet`` itself, which most calls have without asking for it.
    package var isDefault: Bool { storage === Self.internet.storage }

    /// How long the path must have met the requirement, without interruption, before the operation starts.
    public var stableTime: Duration { storage.stableTime }

    /// Whether a path meets the requirement, apart from ``stableTime``.
    public func isSatisfied(by path: NetworkPath) -> Bool { storage.holds?(path) ?? path.isSatisfied }

    /// A route to the internet over IPv4 or IPv6: the default.
    public static let internet = Self("internet") { $0.isSatisfied }

    /// A route to the internet over IPv4.
    public static let ipv4 = Self("IPv4") { $0.ipv4.isAvailable }

    /// A route to the internet over IPv6.
    public static let ipv6 = Self("IPv6") { $0.ipv6.isAvailable }

    /// Routes to the internet over both IPv4 and IPv6.
    public static let bothFamilies = Self("IPv4 and IPv6") { $0.ipv4.isAvailable && $0.ipv6.isAvailable }

    /// A connected or routed network, whether or not it leads to the internet. Link-local addresses are not enough.
    public static let localNetwork = Self("local network") { $0.scope >= .site }

    /// A route to the internet through the interface of this name.
    public static func interface(_ name: String) -> Self {
        Self("interface \(name)") { $0.interfacesInUse.contains { $0.name == name } }
    }

    /// A route to the internet through an interface of this kind.
    public static func interfaceKind(_ kind: NetworkInterface.Kind) -> Self {
        Self("interface of kind \(kind.rawValue)") { $0.interfacesInUse.contains { $0.kind == kind } }
    }

    /// A route to the internet that is not known to cost money or quota.
    public static let notMetered = Self("not metered") { $0.isSatisfied && !$0.isExpensive }

    /// The network must have been available for this long without interruption, so that a flapping link does not start
    /// the operation.
    ///
    /// Combine it with ``and(_:)``; alone it means the internet. The time counts from when the call first sees a
    /// suitable path, because a performer watches the network only while calls wait. A gap in
    /// ``NetworkPath/generation`` restarts it, since the path may have been away in between. The call's own limit keeps
    /// running.
    ///
    /// - Parameter time: Zero and negative: no minimum.
    public static func stable(for time: Duration) -> Self { Self(Storage([], stableTime: max(time, .zero), nil)) }

    /// Any path that the closure accepts. It is called often, from any thread, and must return immediately.
    public static func predicate(
        _ description: String, _ isSatisfied: @escaping @Sendable (NetworkPath) -> Bool
    ) -> Self {
        Self(description, isSatisfied)
    }

    /// Returns a requirement that demands both; of two minimum stable times the longer one applies.
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
