// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

/// What a program knows about an interface and the kernel does not say. A property that is nil leaves the monitor's own
/// finding.
public struct InterfaceHints: Sendable, Hashable {
    /// Whether use costs money or quota.
    public var isMetered: Bool?
    /// Whether programs should use little data.
    public var isConstrained: Bool?
    /// The far end of a tunnel, such as a VPN's server, so that the monitor can ask what carries the tunnel.
    public var tunnelEndpoint: IPAddress?

    /// Describes what is known about an interface.
    public init(isMetered: Bool? = nil, isConstrained: Bool? = nil, tunnelEndpoint: IPAddress? = nil) {
        self.isMetered = isMetered
        self.isConstrained = isConstrained
        self.tunnelEndpoint = tunnelEndpoint
    }
}
