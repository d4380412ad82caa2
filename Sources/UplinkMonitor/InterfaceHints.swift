// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

/// What a program knows of an interface that the kernel does not say. What is nil stays as the monitor sees it.
public struct InterfaceHints: Sendable, Hashable {
    /// Whether use costs money or quota.
    public var isMetered: Bool?
    /// Whether programs should use little.
    public var isConstrained: Bool?
    /// The far end of a tunnel, such as a VPN's server, so that what carries the tunnel can be asked for.
    public var tunnelEndpoint: IPAddress?

    /// Describes what is known.
    public init(isMetered: Bool? = nil, isConstrained: Bool? = nil, tunnelEndpoint: IPAddress? = nil) {
        self.isMetered = isMetered
        self.isConstrained = isConstrained
        self.tunnelEndpoint = tunnelEndpoint
    }
}
