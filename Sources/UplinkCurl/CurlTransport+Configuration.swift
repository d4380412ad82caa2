// SPDX-License-Identifier: Apache-2.0
public import SystemPackage
public import UplinkCore

extension CurlTransport {
    /// The local end of connections.
    public enum LocalEnd: Sendable, Hashable {
        /// This interface, such as `eth0`, whatever the routes say (SO_BINDTODEVICE, socket(7)).
        case interface(String)
        /// This address of the host, on whatever interface the routes choose.
        case address(IPAddress)
    }

    /// How a transport behaves. The security settings apply to all its connections: transports share none.
    public struct Configuration: Sendable {
        // MARK: Security

        /// Which certificates are trusted.
        public var trust = Trust.system
        /// The oldest version of TLS to use.
        public var minimumTLSVersion = TLSVersion.tls12
        /// The client's certificate, for servers that ask for one.
        public var identity: ClientIdentity?
        /// The keys that a server may have, in addition to the requirement of a trusted certificate: `sha256//` and the
        /// base64 of the digest of its SubjectPublicKeyInfo (RFC 7469, section 2.4). Empty for any key.
        ///
        /// Before a server changes its key, list the next one beside the present one. The keys apply to every server of
        /// this transport.
        public var pinnedKeys: [String] = []
        /// Whether to connect only to hosts on the internet, whatever a name or a redirect leads to: never to this host
        /// (not even by a public address of its own), private networks, links or a cloud's metadata service
        /// (`IPAddress.isOnInternet`). The address of each attempt is checked. Not allowed with a proxy, which looks
        /// names up itself, nor with ``unixSocket``.
        public var publicAddressesOnly = false
        /// Called once per transport with a warning about dangerous settings; nil writes it to standard error.
        public var warn: (@Sendable (String) -> Void)?

        // MARK: Where connections go

        /// The proxy, if any.
        public var proxy = ProxyRule.none
        /// Addresses of hosts that are not to be looked up, tried in this order within each family. The key is
        /// `host:port`, with the host in lower case, or `host:*` for every port without an entry of its own.
        public var resolve: [String: [IPAddress]] = [:]
        /// The one address family that connections use; nil for either, whichever connects first. Without effect on
        /// ``unixSocket``.
        public var addressFamily: IPAddress.Family?
        /// A socket in the file system to which all connections go, whatever the URL's host.
        public var unixSocket: FilePath?
        /// The local end of the connections; nil leaves the choice to the routing table.
        public var localEnd: LocalEnd?

        // MARK: How many

        /// How many transfers run at the same time, over all hosts; others wait, with hosts taking turns.
        public var maximumConcurrentTransfers = 128
        /// How many transfers run at the same time to one host (scheme, name and port), each on its own connection. A
        /// transfer whose body is not being read counts too.
        public var maximumConcurrentTransfersPerHost = 6
        /// How many transfers may wait; more are refused with `HTTPClientError.Code.queueFull`.
        public var maximumQueuedTransfers = 10_000
        /// How many names are resolved at the same time, each on a thread of libcurl's (since
        /// libcurl 8.20 on two, one for each address family).
        public var maximumConcurrentLookups = 8
        /// How many bytes all bodies together may hold for readers that are slower than the network. Beyond that, each
        /// body pauses after one piece (16 KiB) until its reader has taken it.
        public var maximumBufferedBytes = 64 * 1024 * 1024

        // MARK: How long

        /// How many idle connections are kept for later requests.
        public var maximumIdleConnections = 32
        /// How long a connection may be idle before it is closed.
        public var maximumIdleTime = Duration.seconds(60)
        /// The greatest age at which a connection is still reused; in whole seconds, rounded up.
        public var maximumConnectionAge = Duration.seconds(600)
        /// How long sessions of TLS are resumed: with one, OpenSSL takes a certificate as it was found at its beginning,
        /// though it may have expired, or its authority may not be trusted any more.
        package var maximumSessionAge = Duration.seconds(3600)
        /// How many requests a connection may serve; nil for any number. With many concurrent requests it may serve a
        /// few more, which were assigned to it before the last one was seen to end.
        public var maximumRequestsPerConnection: Int?
        /// How long a connection may be silent before its peer is asked whether it is still there (TCP keep-alive), and
        /// then again after a third of that. Nil for never.
        public var keepAlive: Duration? = .seconds(30)
        /// How long sent data may be unacknowledged before the connection counts as broken (TCP_USER_TIMEOUT, tcp(7)).
        /// Nil for the system's rules, which take a quarter of an hour. After a change of the network it is at most five
        /// seconds for the connections from before, whatever is set.
        ///
        /// To the kernel, a server that is slow to read a request's body looks the same as one that is gone. While a
        /// body is sent, and until its answer begins or the server is seen to have it all, the time is therefore longer
        /// than the request's `firstByte` and `stall`, which come first; without one of these, the system's rules apply.
        public var unacknowledgedTimeout: Duration? = .seconds(30)
        /// The source of changes of the network, such as `LinuxNetworkMonitor.shared.changes`; nil for none.
        ///
        /// Connections from an address that is gone end immediately, with `HTTPClientError.Code.networkChanged`. When
        /// the way to the internet changes, transfers that are under way go on, and new ones use neither their
        /// connections nor the cached results of DNS. The transport listens from the first request to its end, or until
        /// the source fails, which counts as a change of everything.
        public var networkChanges: NetworkChanges?

        /// Creates the default configuration.
        public init() {}
    }
}
