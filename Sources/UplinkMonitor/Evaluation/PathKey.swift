// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// The part of a path that makes it a different path: a new one is published when the key changes, not when any field
/// does.
///
/// The MTU, an additional or missing address, alternatives, neighbours, lifetimes and a family that is not in use do
/// not change the key. The scope does, because programs may wait for a local network.
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

    /// Why one family does not work is irrelevant while the other one does.
    private static func key(of family: FamilyPath, in path: NetworkPath) -> Family? {
        family.isAvailable || !path.isSatisfied ? Family(family) : nil
    }

    /// Interface, gateway, source and the result of validation, but not its time.
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
