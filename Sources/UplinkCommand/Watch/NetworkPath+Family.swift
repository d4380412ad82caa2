// SPDX-License-Identifier: Apache-2.0
import UplinkCore

extension NetworkPath {
    /// The path as it is for those who use one address family alone.
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

    /// Whether both say the same but for the number. Where this family has no way, which network it is and which name
    /// servers can be reached is the other family's news.
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
