// SPDX-License-Identifier: Apache-2.0

/// A change of the network that existing connections may not survive: lost local addresses or changed default routes.
///
/// Code that keeps connections can use it to give up early on those that can no longer work. Changes that do not break
/// connections (a new address, a flag, a neighbour) are not reported.
public struct NetworkChange: Sendable, Hashable {
    /// The most removed addresses that one change names; a larger change is ``everything``.
    public static let maximumAddresses = 64

    /// The addresses that this host no longer has, and those of a link that is down or without a carrier, once its route
    /// to the internet has moved to another link.
    public private(set) var removedAddresses: Set<IPAddress>
    /// The families whose route to the internet is gone or has changed its interface, gateway or source address.
    public private(set) var changedDefaultRoutes: Set<IPAddress.Family>
    /// Whether anything may have changed, so that every earlier connection is suspect: the system slept, there were too
    /// many changes to name, or some were missed. The two sets are empty then.
    public private(set) var isEverything = false

    /// Describes a change; with more than ``maximumAddresses`` addresses it is ``everything``.
    public init(removedAddresses: Set<IPAddress> = [], changedDefaultRoutes: Set<IPAddress.Family> = []) {
        self.removedAddresses = removedAddresses
        self.changedDefaultRoutes = changedDefaultRoutes
        if removedAddresses.count > Self.maximumAddresses { self = .everything }
    }

    private init(isEverything: Bool) {
        self.init()
        self.isEverything = isEverything
    }

    /// Anything may have changed.
    public static let everything = Self(isEverything: true)

    /// Returns a change that stands for both.
    public func union(_ other: Self) -> Self {
        if isEverything || other.isEverything { return .everything }
        return Self(
            removedAddresses: removedAddresses.union(other.removedAddresses),
            changedDefaultRoutes: changedDefaultRoutes.union(other.changedDefaultRoutes))
    }
}

extension NetworkChange: CustomStringConvertible {
    /// A few words for logs, such as `192.0.2.10 removed, default route of ipv4 changed`.
    public var description: String {
        if isEverything { return "everything may have changed" }
        let addresses = removedAddresses.map(\.description).sorted().map { "\($0) removed" }
        let routes = changedDefaultRoutes.map(\.rawValue).sorted().map { "default route of \($0) changed" }
        return (addresses + routes).joined(separator: ", ")
    }
}
