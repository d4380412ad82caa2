// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
public import UplinkHTTP

extension CurlTransport {
    /// Which requests go through a proxy.
    public enum ProxyRule: Sendable, Hashable {
        /// None, whatever the environment says.
        case none
        /// All requests go through this one, except those to these hosts: names, which include what is below them
        /// (`example.com`, `.example.com`, `*.example.com`), addresses, networks (`10.0.0.0/8`), or `*`.
        case always(Proxy, except: [String])
        /// As the environment says when the transport is created: `http_proxy` for `http` (only in lower case, because
        /// CGI lets clients set `HTTP_PROXY`), `https_proxy` for `https`, `all_proxy` for both, `no_proxy` for
        /// exceptions; the last three also in capitals. Exceptions of any other form are ignored.
        case fromEnvironment
    }

    /// A proxy, and how to speak to it.
    public struct Proxy: Sendable, Hashable {
        /// The protocol of a proxy.
        public enum Kind: String, Sendable, Hashable {
            /// HTTP: CONNECT for `https`, whole URLs for `http` (RFC 9110, section 9.3.6; RFC 9112, section 3.2.2). For
            /// `http` the proxy's own answers (407, 502) are answers like the server's.
            case http
            /// The same over TLS, with the transport's ``Configuration/trust``; the client's identity is for servers
            /// alone. An `https` request has a connection to itself: what a server sends beyond its answer cannot be
            /// seen through both layers of TLS, and must not become the answer to the next request.
            case https
            /// SOCKS 4a: the proxy resolves the name.
            case socks4a
            /// SOCKS 5 (RFC 1928): the name is resolved here, and the proxy is asked for the first of its addresses
            /// alone.
            case socks5
            /// SOCKS 5: the proxy resolves the name.
            case socks5h

            /// Whether it gets `http` requests as such, with whole URLs.
            var forwards: Bool {
                switch self {
                case .http, .https: true
                case .socks4a, .socks5, .socks5h: false
                }
            }
        }

        /// The client's credentials for the proxy, sent in clear text (Basic, RFC 7617; RFC 1929). The server never
        /// sees them.
        public struct Credentials: Sendable, Hashable {
            /// The user name; for HTTP it has no colon.
            public var user: String
            /// The password.
            public var password: String

            /// Creates credentials.
            public init(user: String, password: String) { (self.user, self.password) = (user, password) }
        }

        /// The protocol of the proxy.
        public let kind: Kind
        /// Its name or address in lower case, an IPv6 address in brackets.
        public let host: String
        /// Its port.
        public let port: UInt16
        /// The client's credentials for the proxy.
        public var credentials: Credentials?

        /// Creates a proxy from its URL, such as `http://proxy.example:3128` or `socks5h://user:secret@127.0.0.1`. The
        /// default scheme is `http`; the default port is 443 for `https` and 1080 otherwise, as in libcurl.
        ///
        /// - Throws: `HTTPClientError` when it is not a proxy's URL.
        public init(_ url: String, credentials: Credentials? = nil) throws(HTTPClientError) {
            var rest = url[...]
            var kind = Kind.http
            if let mark = rest.firstRange(of: "://")?.lowerBound {
                guard let known = Kind(rawValue: rest[..<mark].lowercased()) else {
                    throw Self.invalid("its scheme is none of http, https, socks4a, socks5, socks5h")
                }
                kind = known
                rest = rest[mark...].dropFirst(3)
            }
            self.credentials = credentials
            if let mark = rest.lastIndex(of: "@") {
                let parts = rest[..<mark].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                rest = rest[mark...].dropFirst()
                if credentials == nil {
                    self.credentials = Credentials(
                        user: try Self.decode(parts[0]), password: parts.count > 1 ? try Self.decode(parts[1]) : "")
                }
            }
            if rest.hasSuffix("/") { rest = rest.dropLast() }
            guard !rest.isEmpty, !rest.contains(where: { "/?#".contains($0) }),
                let parsed = try? HTTPRequest(parsing: "http://\(rest)/").checkedURL()
            else { throw Self.invalid("no host and port can be read from it") }
            self.kind = kind
            host = parsed.host
            let behindHost = rest[(rest.lastIndex(of: "]") ?? rest.startIndex)...]
            let hasPort = behindHost.contains(":") && !behindHost.hasSuffix(":")
            port = hasPort ? parsed.port : kind == .https ? 443 : 1080
        }

        /// The proxy's URL without credentials, for libcurl and for messages.
        public var url: String { "\(kind.rawValue)://\(host):\(port)" }

        /// Whether the proxy resolves the hosts' names.
        var resolvesNames: Bool { kind != .socks5 }

        /// - Throws: `HTTPClientError` when the credentials cannot be sent.
        func validate() throws(HTTPClientError) {
            guard let credentials else { return }
            for (name, text) in [("user", credentials.user), ("password", credentials.password)]
            where text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                throw Configuration.invalid("the proxy's \(name) contains a control character; choose another one")
            }
            switch kind {
            case .http, .https:
                guard credentials.user.utf8.contains(UInt8(ascii: ":")) else { return }
                throw Configuration.invalid(
                    "the proxy's user contains a colon, which Basic authentication cannot send (RFC 7617); "
                        + "choose another one")
            case .socks4a: break
            case .socks5, .socks5h:
                guard max(credentials.user.utf8.count, credentials.password.utf8.count) > 255 else { return }
                throw Configuration.invalid(
                    "the proxy's user or password has more than the 255 bytes that SOCKS 5 can send (RFC 1929)")
            }
        }

        /// Decodes the percent-encoding of a URL's user information (RFC 3986, section 2.1).
        private static func decode(_ text: Substring) throws(HTTPClientError) -> String {
            guard let bytes = PercentEncoding.decode(text) else {
                throw invalid("its user information has a percent sign without two digits")
            }
            guard let decoded = String(validating: bytes, as: UTF8.self) else {
                throw invalid("its user information is not UTF-8")
            }
            return decoded
        }

        private static func invalid(_ reason: String) -> HTTPClientError {
            Configuration.invalid("the proxy's URL is wrong: \(reason)")  // not shown, since it may hold a password
        }
    }
}

extension CurlTransport.Proxy.Credentials: CustomStringConvertible, CustomReflectable {
    /// Only the user, so that a log that shows a configuration does not show the password.
    public var description: String { "\(user):…" }

    /// The same for `dump` and debuggers.
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
