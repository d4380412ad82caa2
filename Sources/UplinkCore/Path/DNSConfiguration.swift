// SPDX-License-Identifier: Apache-2.0

/// The name servers that this system's resolver asks (resolv.conf(5)), and whether packets can reach them.
public struct DNSConfiguration: Sendable, Hashable {
    /// A name server.
    public struct Resolver: Sendable, Hashable {
        /// Its address.
        public var address: IPAddress
        /// The interface of a link-local address (`fe80::1%eth0`), by name or number.
        public var zone: String?
        /// Whether a usable route leads to the server. This does not mean that the server answers.
        public var hasRoute: Bool

        /// Describes a name server.
        public init(address: IPAddress, zone: String? = nil, hasRoute: Bool = false) {
            self.address = address
            self.zone = zone
            self.hasRoute = hasRoute
        }

        /// The address with its zone, as resolv.conf(5) has it.
        package var text: String { zone.map { "\(address)%\($0)" } ?? "\(address)" }
    }

    /// The name servers in the order in which they are asked: the first three that the file names, as in the C library.
    ///
    /// Empty if no file names any; the C library then asks a server on this host.
    public var resolvers: [Resolver]

    /// Describes the name servers.
    public init(resolvers: [Resolver] = []) { self.resolvers = resolvers }

    /// Whether a usable route leads to at least one of the name servers.
    public var isReachable: Bool { resolvers.contains(where: \.hasRoute) }
}
