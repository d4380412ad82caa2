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

    /// Whether both say the same but for the number.
    func isSame(as other: NetworkPath) -> Bool {
        var other = other
        other.generation = generation
        return self == other
    }
}
