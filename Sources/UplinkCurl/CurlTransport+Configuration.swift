// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
public import SystemPackage
public import UplinkCore
import UplinkHTTP

extension CurlTransport {
    /// Which certificates are believed. The server's name is always checked, and nothing below TLS 1.2 is spoken.
    public enum Trust: Sendable, Hashable {
        /// The system's authorities.
        case system
        /// The authorities in this file (PEM), and no others.
        case authorities(FilePath)
    }

    /// How a transport behaves.
    public struct Configuration: Sendable {
        /// Which certificates are believed.
        public var trust = Trust.system
        /// Addresses for hosts that are not to be asked of the resolver; tried in their order within a family. The key
        /// is `host:port`, the host in lower case.
        public var resolve: [String: [IPAddress]] = [:]
        /// The one address family that connections use; nil for either, whichever connects first.
        public var addressFamily: IPAddress.Family?
        /// Transfers that run at once; others wait, first in, first out.
        public var maximumConcurrentTransfers = 128
        /// Transfers that may wait; more are refused with ``UplinkHTTP/HTTPClientError/Code/queueFull``.
        public var maximumQueuedTransfers = 10_000
        /// Names that are resolved at once, each of which takes a thread of libcurl's.
        public var maximumConcurrentLookups = 8
        /// Idle connections that are kept for later requests.
        public var maximumIdleConnections = 32

        /// The default configuration.
        public init() {}

        func validate() throws(HTTPClientError) {
            let all = [
                ("maximumConcurrentTransfers", maximumConcurrentTransfers, 1),
                ("maximumQueuedTransfers", maximumQueuedTransfers, 0),
                ("maximumConcurrentLookups", maximumConcurrentLookups, 1),
                ("maximumIdleConnections", maximumIdleConnections, 1),
            ]
            for (name, value, least) in all where value < least {
                throw invalid("`\(name)` is \(value); give \(least) or more")
            }
            for (host, addresses) in resolve {
                let isKey = (try? HTTPRequest(parsing: "http://\(host)/").checkedURL()).map {
                    "\($0.host):\($0.port)" == host
                }
                guard isKey == true else { throw invalid("the key `\(host)` of `resolve` is not `host:port`") }
                guard !addresses.isEmpty else { throw invalid("`resolve` has no address for `\(host)`") }
            }
        }

        private func invalid(_ message: String) -> HTTPClientError {
            HTTPClientError(.invalidConfiguration, phase: .request, message: message)
        }
    }
}
