// SPDX-License-Identifier: Apache-2.0
import UplinkCore

extension NetworkPath {
    /// The path as it is for programs that use only one address family.
    func restricted(to family: IPAddress.Family) -> NetworkPath {
        var path = self
        switch family {
        case .ipv4: path.ipv6 = .notAsked
        case .ipv6: path.ipv4 = .notAsked
        }
        let way = self[family]
        path.status = way.isAvailable ? .satisfied : .unsatisfied
        path.unsatisfiedReason = way.isAvailable ? nil : way.unsatisfiedReason ?? unsatisfiedReason
        path.interfaces = way.isAvailable ? interfaces.filter { $0.index == way.interfaceIndex } : []
        if !way.isAvailable { path.scope = min(scope, .site) }
        return path
    }

    /// Whether both say the same, apart from the generation. If this family has no way, the network's identity and the
    /// reachable name servers belong to the other family.
    func isSame(as other: NetworkPath) -> Bool { told == other.told }

    private var told: NetworkPath {
        var path = self
        path.generation = 0
        guard !isSatisfied else { return path }
        path.networkID = nil
        for index in path.dns.resolvers.indices { path.dns.resolvers[index].hasRoute = false }
        return path
    }
}
