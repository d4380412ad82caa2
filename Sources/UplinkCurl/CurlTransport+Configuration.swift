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

    /// How a transport behaves. What is about security, it is about for all its connections: transports share none.
    public struct Configuration: Sendable {
        // MARK: Security

        /// Which certificates are believed.
        public var trust = Trust.system
        /// The oldest version of TLS that is spoken.
        public var minimumTLSVersion = TLSVersion.tls12
        /// Who the client is, for servers that want to know.
        public var identity: ClientIdentity?
        /// The keys that a server may have, besides a certificate that is believed: `sha256//` and the base64 of the
        /// digest of its SubjectPublicKeyInfo (RFC 7469, section 2.4). Empty for any key.
        ///
        /// Give the next key as well as the present one before the server changes. They hold for every server of this
        /// transport.
        public var pinnedKeys: [String] = []
        /// Connects to hosts on the internet alone, whatever a name or a redirect leads to: never to this host (not by an
        /// address of its own on the internet either), private networks, links or a cloud's metadata service
        /// (`IPAddress.isOnInternet`). The address of each attempt is checked. Not with a proxy, which looks names up itself, nor with ``unixSocket``.
        public var publicAddressesOnly = false
        /// Told, once per transport, what is dangerous about its settings. Standard error when nil.
        public var warn: (@Sendable (String) -> Void)?

        // MARK: Where connections go

        /// The proxy, if any.
        public var proxy = ProxyRule.none
        /// Addresses for hosts that are not to be asked of the resolver; tried in their order within a family. The key
        /// is `host:port`, the host in lower case, or `host:*` for every port that has no entry of its own.
        public var resolve: [String: [IPAddress]] = [:]
        /// The one address family that connections use; nil for either, whichever connects first.
        public var addressFamily: IPAddress.Family?
        /// A socket in the file system that all connections go to, whatever the URL's host.
        public var unixSocket: FilePath?
        /// This end of the connections; nil for what the routes say.
        public var localEnd: LocalEnd?

        // MARK: How many

        /// Transfers that run at once, over all hosts; others wait, hosts in turn.
        public var maximumConcurrentTransfers = 128
        /// Transfers that run at once to one host (scheme, name and port), each of which has a connection. One whose body
        /// nobody reads counts.
        public var maximumConcurrentTransfersPerHost = 6
        /// Transfers that may wait; more are refused with `HTTPClientError.Code.queueFull`.
        public var maximumQueuedTransfers = 10_000
        /// Names that are resolved at once, each of which takes a thread of libcurl's.
        public var maximumConcurrentLookups = 8
        /// Bytes that all bodies together hold for readers who are slower than the network. Beyond that each body pauses
        /// at its first piece (16 KiB), until its reader has taken it.
        public var maximumBufferedBytes = 64 * 1024 * 1024

        // MARK: How long

        /// Idle connections that are kept for later requests.
        public var maximumIdleConnections = 32
        /// How long a connection may have been idle to be used again; in whole seconds, rounded up.
        public var maximumIdleTime = Duration.seconds(60)
        /// How old a connection may be to be used again; in whole seconds, rounded up.
        public var maximumConnectionAge = Duration.seconds(600)
        /// How many requests a connection may serve; nil for any number. With many requests at once it may serve some more:
        /// those that it was given before the last one's end had been seen.
        public var maximumRequestsPerConnection: Int?
        /// How long an idle connection is silent until its peer is asked whether it is there (TCP keep-alive); asked again
        /// after a third of it. Nil for never.
        public var keepAlive: Duration? = .seconds(30)
        /// How long what was sent may be unacknowledged until the connection counts as broken (TCP_USER_TIMEOUT, tcp(7)).
        /// Nil for the system's rules, which take a quarter of an hour.
        public var unacknowledgedTimeout: Duration? = .seconds(30)
        /// Where to hear that the network has changed, such as `LinuxNetworkMonitor.shared.changes`; nil for nowhere.
        ///
        /// Connections from an address that is gone end at once, with
        /// `HTTPClientError.Code.networkChanged`. When the way to the internet is another one, transfers
        /// that are under way go on, and new ones use neither their connections nor what names were resolved to. It is
        /// listened to from the first request to the transport's end, or until it fails, which counts as if everything had
        /// changed.
        public var networkChanges: NetworkChanges?

        /// The default configuration.
        public init() {}
    }
}
