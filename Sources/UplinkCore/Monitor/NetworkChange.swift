// SPDX-License-Identifier: Apache-2.0

/// What became of the network that connections may not survive: local addresses that are gone, default routes that lead
/// elsewhere.
///
/// For those who keep connections and want to give up early those that cannot work any more. What does not break
/// connections (a new address, a flag, a neighbour) is no change in this sense.
public struct NetworkChange: Sendable, Hashable {
    /// How many removed addresses one change names; above that it is ``everything``.
    public static let maximumAddresses = 64

    /// Addresses of this host that it does not have any more.
    public private(set) var removedAddresses: Set<IPAddress>
    /// The families whose way to the internet is gone, or another one than before: interface, gateway or source address.
    public private(set) var changedDefaultRoutes: Set<IPAddress.Family>
    /// Anything may have changed, so that no connection from before is above suspicion: the system slept, the changes
    /// are too many to name, or some were missed. The two sets say nothing then.
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

    /// Both changes as one.
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
