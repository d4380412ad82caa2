// SPDX-License-Identifier: Apache-2.0

/// Why there is no network, as accurately as the kernel's answers allow.
///
/// The cases are in order of how close the network is to working; if the two address families differ, a path gives the
/// closer reason.
public enum UnsatisfiedReason: String, Sendable, Hashable, CaseIterable {
    /// No link is up: no cable, no radio, or all interfaces are switched off.
    case noInterface
    /// A link is up, but it has no usable address yet.
    case noAddress
    /// There are addresses, but no route to the internet.
    case noRoute
    /// A route or a rule blocks the traffic (blackhole, unreachable, prohibit).
    case blocked
    /// There is a route, but the link it leads to is down.
    case linkDown
    /// There is a route, but its link is waiting for something (802.1X, Wi-Fi before authentication).
    case linkDormant
    /// An address is being checked for duplicates and will be usable in a moment.
    case addressPending
    /// The system does not say, for example because a sandbox forbids asking the kernel.
    case unknown

    /// A few words for people, such as `no route to the internet`.
    public var explanation: String {
        switch self {
        case .noInterface: "no link is up"
        case .noAddress: "no usable address"
        case .noRoute: "no route to the internet"
        case .blocked: "blocked by a route or a rule"
        case .linkDown: "the link is down"
        case .linkDormant: "the link waits for authentication"
        case .addressPending: "the address is being checked for duplicates"
        case .unknown: "for a reason the system does not tell"
        }
    }
}
