// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Addresses and paths, one after the other ⇒ what connections may not survive. Pure.
struct ChangeDetector {
    /// What there was at the last look.
    private struct Look {
        let addresses: Set<IPAddress>
        let ways: [IPAddress.Family: FamilyWay]
    }

    private var last: Look?

    /// Compares with the last look; nil when nothing broke, and at the first look.
    ///
    /// A way that comes breaks nothing, so only one that was there counts.
    mutating func look(addresses: Set<IPAddress>, path: NetworkPath) -> NetworkChange? {
        let look = Look(
            addresses: addresses, ways: Dictionary(uniqueKeysWithValues: path.ways.map { ($0.family, $0.way) }))
        defer { last = look }
        guard let last else { return nil }
        let change = NetworkChange(
            removedAddresses: last.addresses.subtracting(look.addresses),
            changedDefaultRoutes: Set(last.ways.filter { $1 != look.ways[$0] }.keys))
        return change == NetworkChange() ? nil : change
    }

    /// Forgets the last look, because nobody listens.
    mutating func forget() { last = nil }
}

/// The way of an available family: what makes it the same one.
struct FamilyWay: Equatable {
    let interfaceIndex: UInt32?
    let gateway: IPAddress?
    let source: IPAddress?

    /// Nil where the family has no way.
    init?(_ path: FamilyPath) {
        guard path.isAvailable else { return nil }
        (interfaceIndex, gateway, source) = (path.interfaceIndex, path.gateway, path.source)
    }
}

extension NetworkPath {
    /// The ways of the available families.
    fileprivate var ways: [(family: IPAddress.Family, way: FamilyWay)] {
        IPAddress.Family.allCases.compactMap { family in FamilyWay(self[family]).map { (family, $0) } }
    }
}
