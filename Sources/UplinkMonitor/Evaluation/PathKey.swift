// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// What of a path makes it another path: a new one is given when the key differs, and not on every field.
///
/// The MTU, an address more or less, alternatives, neighbours, lifetimes and a family that is not in use change no key.
/// The scope does, because programs may wait for a local network.
struct PathKey: Equatable {
    private let status: NetworkPath.Status
    private let reason: UnsatisfiedReason?
    private let scope: NetworkPath.Scope
    private let ipv4: Family?
    private let ipv6: Family?
    private let carriers: [Family]
    private let isExpensive: Bool
    private let isConstrained: Bool
    private let dns: DNSConfiguration
    private let isAuthoritative: Bool
    private let lastResume: ContinuousClock.Instant?

    init(_ path: NetworkPath) {
        status = path.status
        reason = path.unsatisfiedReason
        scope = path.scope
        ipv4 = Self.key(of: path.ipv4, in: path)
        ipv6 = Self.key(of: path.ipv6, in: path)
        carriers = path.interfacesInUse.compactMap(\.underlying).map { Family($0.path) }
        isExpensive = path.isExpensive
        isConstrained = path.isConstrained
        dns = path.dns
        isAuthoritative = path.isAuthoritative
        lastResume = path.lastResume
    }

    /// What stands in the way of one family says nothing while the other one works.
    private static func key(of family: FamilyPath, in path: NetworkPath) -> Family? {
        family.isAvailable || !path.isSatisfied ? Family(family) : nil
    }

    /// Interface, gateway, source and what validation found out, but not when.
    private struct Family: Equatable {
        let isAvailable: Bool
        let interface: String?
        let interfaceIndex: UInt32?
        let gateway: IPAddress?
        let source: IPAddress?
        let validation: PathValidation.State
        let captivePortalURL: String?

        init(_ path: FamilyPath) {
            isAvailable = path.isAvailable
            interface = path.interface
            interfaceIndex = path.interfaceIndex
            gateway = path.gateway
            source = path.source
            validation = path.validation.state
            captivePortalURL = path.validation.captivePortalURL
        }
    }
}
