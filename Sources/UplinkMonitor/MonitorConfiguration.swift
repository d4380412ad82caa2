// SPDX-License-Identifier: Apache-2.0
public import UplinkCore

extension LinuxNetworkMonitor {
    /// The settings of a monitor. The defaults suit almost everybody.
    public struct Configuration: Sendable {
        /// The IPv4 addresses that must be reachable for IPv4 to count as available; no packet is sent to them.
        public let ipv4Probes: [IPAddress]
        /// The IPv6 addresses that must be reachable for IPv6 to count as available; no packet is sent to them.
        public let ipv6Probes: [IPAddress]
        /// The minimum time between two paths. The first change after a quiet period is published immediately, and so
        /// is the end of a loss in any case.
        public internal(set) var minimumInterval: Duration
        /// The size in bytes of the buffer in which the kernel keeps its messages until they are read. Without
        /// CAP_NET_ADMIN it is limited to `net.core.rmem_max`.
        public let receiveBufferSize: Int
        /// How long a loss must have lasted before it is published: for changes from satisfied to unsatisfied, never
        /// for the opposite.
        ///
        /// A loss that ends sooner is not published, but increases the generation. With zero, a loss is published
        /// immediately.
        public internal(set) var settle: Duration
        /// What to do if the system refuses netlink.
        public let whenUnavailable: Unavailability

        // MARK: The kernel's side

        /// The firewall mark (`SO_MARK`) of the sockets whose path is wanted, for policy rules that use it.
        public var mark: UInt32?
        /// The user whose sockets' path is wanted, for policy rules that use it; nil for the user of this process.
        public var uid: UInt32?
        /// The interface that the sockets whose path is wanted are bound to (`SO_BINDTODEVICE`), by its current name;
        /// alternative names (`ip link property add … altname`) are not known. The path is the one through this
        /// interface only, and there is none while the interface does not exist.
        public var outputInterface: String?
        /// The file that lists the name servers (resolv.conf(5)), or nil to leave them out of the path.
        ///
        /// By default the C library's file, as this process sees it. For programs that it starts, `ip netns exec NAME`
        /// puts `/etc/netns/NAME/resolv.conf` in its place; a loop that entered a namespace by itself has to be told.
        public var resolverFile: String? = "/etc/resolv.conf"
        /// The program's knowledge of interfaces. It is called on the loop's thread whenever an interface is described,
        /// with what the kernel says about it. It must return immediately, and must return the same for the same
        /// interface.
        public var hints: (@Sendable (NetworkInterface) -> InterfaceHints)?
        /// Whether the kernel drops irrelevant routes before it reports them. False is for measurements.
        public var kernelFilter = true
        /// The target of the path.
        var target = Target.internet

        // MARK: Making one

        /// The default configuration.
        public init() {
            ipv4Probes = Self.defaultIPv4Probes
            ipv6Probes = Self.defaultIPv6Probes
            minimumInterval = .milliseconds(50)
            receiveBufferSize = 1 << 20
            settle = .zero
            whenUnavailable = .fail
        }

        /// Makes a configuration.
        ///
        /// - Parameters:
        ///   - ipv4Probes: One to eight public IPv4 addresses. The default has one in each half of the address space,
        ///     so that a half-installed pair of VPN routes is noticed.
        ///   - ipv6Probes: One to eight public IPv6 addresses.
        ///   - minimumInterval: Zero to one minute.
        ///   - receiveBufferSize: 1 byte to 1 GiB; the kernel raises it to its own minimum.
        ///   - settle: Zero to five minutes.
        ///   - whenUnavailable: Fail, or poll at an interval of 100 milliseconds to one hour.
        /// - Throws: `NetworkMonitorError` with the code `invalidConfiguration` and a message that says what to change.
        public init(
            ipv4Probes: [IPAddress] = Self.defaultIPv4Probes, ipv6Probes: [IPAddress] = Self.defaultIPv6Probes,
            minimumInterval: Duration = .milliseconds(50), receiveBufferSize: Int = 1 << 20,
            settle: Duration = .zero, whenUnavailable: Unavailability = .fail
        ) throws(NetworkMonitorError) {
            try Self.check(ipv4Probes, named: "ipv4Probes", family: .ipv4)
            try Self.check(ipv6Probes, named: "ipv6Probes", family: .ipv6)
            guard (.zero ... .seconds(60)).contains(minimumInterval) else {
                throw .invalid("minimumInterval is \(minimumInterval); give zero to 60 seconds")
            }
            guard (1...1 << 30).contains(receiveBufferSize) else {
                throw .invalid("receiveBufferSize is \(receiveBufferSize); give 1 to \(1 << 30) bytes")
            }
            try Self.check(settle: settle, whenUnavailable)
            self.settle = settle
            self.whenUnavailable = whenUnavailable
            self.ipv4Probes = ipv4Probes
            self.ipv6Probes = ipv6Probes
            self.minimumInterval = minimumInterval
            self.receiveBufferSize = receiveBufferSize
        }

        /// One address in each half of the IPv4 address space. They are not addresses of well-known services, for which
        /// people set routes of their own.
        public static let defaultIPv4Probes = [[45, 0, 0, 1], [131, 0, 0, 1]].compactMap { IPAddress(bytes: $0) }

        /// One address in 2000::/3, the global unicast addresses.
        public static let defaultIPv6Probes = [[0x26, 0] + [UInt8](repeating: 0, count: 13) + [1]]
            .compactMap { IPAddress(bytes: $0) }

        private static func check(
            _ probes: [IPAddress], named name: String, family: IPAddress.Family
        ) throws(NetworkMonitorError) {
            guard (1...8).contains(probes.count) else {
                throw .invalid("\(name) has \(probes.count) addresses; give one to eight")
            }
            for probe in probes {
                guard probe.family == family else {
                    throw .invalid("\(probe) in \(name) is an address of the other family")
                }
                guard !probe.isUnspecified, !probe.isLoopback, !probe.isLinkLocal, !probe.isMulticast else {
                    throw .invalid(
                        "\(probe) in \(name) is not an address on the internet; give a public unicast address")
                }
            }
        }
    }
}

extension NetworkMonitorError {
    static func invalid(_ message: String) -> Self { Self(.invalidConfiguration, message: message) }
}
