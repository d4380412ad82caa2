// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Derives changes that connections may not survive from successive addresses and paths. Pure.
struct ChangeDetector {
    /// The state at the last look.
    private struct Look {
        let addresses: Set<IPAddress>
        let ways: [IPAddress.Family: FamilyWay]
    }

    private var last: Look?
    /// The links of the last routes of families that have none now.
    private var lost: [IPAddress.Family: UInt32] = [:]

    /// Compares with the last look; returns nil when nothing broke, and at the first look.
    ///
    /// A new route breaks nothing, so only routes that existed before count.
    ///
    /// - Parameter stranded: Returns the addresses that a link still has, if it is down.
    mutating func look(
        addresses: Set<IPAddress>, path: NetworkPath, stranded: (UInt32) -> Set<IPAddress>
    ) -> NetworkChange? {
        let look = Look(
            addresses: addresses, ways: Dictionary(uniqueKeysWithValues: path.ways.map { ($0.family, $0.way) }))
        defer { last = look }
        guard let last else { return nil }
        let change = NetworkChange(
            removedAddresses: last.addresses.subtracting(look.addresses).union(
                leftBehind(from: last, to: look, stranded)),
            changedDefaultRoutes: Set(last.ways.filter { $1 != look.ways[$0] }.keys))
        return change == NetworkChange() ? nil : change
    }

    /// The addresses of links that are down, from which a route has moved to another link. As long as there is no other,
    /// the link may come back, and connections with it.
    private mutating func leftBehind(
        from last: Look, to look: Look, _ stranded: (UInt32) -> Set<IPAddress>
    ) -> Set<IPAddress> {
        var addresses: Set<IPAddress> = []
        for family in IPAddress.Family.allCases {
            let before = last.ways[family]?.interfaceIndex ?? lost[family]
            guard let way = look.ways[family] else {
                lost[family] = before
                continue
            }
            lost[family] = nil
            guard let before, before != way.interfaceIndex else { continue }
            addresses.formUnion(stranded(before).filter { $0.family == family })
        }
        return addresses
    }

    /// Forgets the last look, because there are no subscribers.
    mutating func forget() { (last, lost) = (nil, [:]) }
}

/// The route of an available family, reduced to what makes it the same route.
struct FamilyWay: Equatable {
    let interfaceIndex: UInt32?
    let gateway: IPAddress?
    let source: IPAddress?

    /// Nil if the family has no route.
    init?(_ path: FamilyPath) {
        guard path.isAvailable else { return nil }
        (interfaceIndex, gateway, source) = (path.interfaceIndex, path.gateway, path.source)
    }
}

extension NetworkPath {
    /// The routes of the available families.
    fileprivate var ways: [(family: IPAddress.Family, way: FamilyWay)] {
        IPAddress.Family.allCases.compactMap { family in FamilyWay(self[family]).map { (family, $0) } }
    }
}
