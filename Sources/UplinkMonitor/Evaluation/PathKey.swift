// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// What of a path makes it another path: a new one is given when the key differs, and not on every field.
///
/// The MTU, an address more or less, and a family that is not in use change no key. The scope does, because programs
/// may wait for a local network.
struct PathKey: Equatable {
    private let status: NetworkPath.Status
    private let reason: UnsatisfiedReason?
    private let scope: NetworkPath.Scope
    private let ipv4: FamilyPath?
    private let ipv6: FamilyPath?
    private let isExpensive: Bool
    private let isConstrained: Bool

    init(_ path: NetworkPath) {
        status = path.status
        reason = path.unsatisfiedReason
        scope = path.scope
        ipv4 = Self.key(of: path.ipv4, in: path)
        ipv6 = Self.key(of: path.ipv6, in: path)
        isExpensive = path.isExpensive
        isConstrained = path.isConstrained
    }

    /// Interface, gateway and source. What stands in the way of one family says nothing while the other one works.
    private static func key(of family: FamilyPath, in path: NetworkPath) -> FamilyPath? {
        guard family.isAvailable || !path.isSatisfied else { return nil }
        var key = family
        key.unsatisfiedReason = nil
        key.table = nil
        return key
    }
}
