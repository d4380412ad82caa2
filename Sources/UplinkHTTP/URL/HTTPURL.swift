// SPDX-License-Identifier: Apache-2.0

/// An absolute `http` or `https` URL that has been checked (RFC 3986, RFC 9110 section 4.2).
///
/// An object, because every request is copied several times on its way, and each copy would be one of five strings.
package final class HTTPURL: Sendable, Hashable {
    /// What a client speaks.
    package enum Scheme: String, Sendable, Hashable {
        case http
        case https

        package var defaultPort: UInt16 { self == .http ? 80 : 443 }

        /// What a URL begins with.
        var prefix: String { self == .http ? "http://" : "https://" }
    }

    /// How it is spoken to.
    package let scheme: Scheme
    /// The host in lower case: a name, an IPv4 address, or an IPv6 address in brackets.
    package let host: String
    /// The port, where the scheme's default is filled in.
    package let port: UInt16
    /// Begins with a slash, has no dot segments.
    package let path: String
    /// What stands between `?` and `#`.
    package let query: String?
    /// What stands after `#`; never sent.
    package let fragment: String?
    /// Host and port as a request carries them; the default port is left out.
    package let authority: String
    /// What is asked for: everything but the fragment.
    package let textWithoutFragment: String

    /// - Parameters:
    ///   - authority: Host and port as they stand, where they are in their normal form.
    ///   - text: The URL as it stands, where it has no fragment and is in its normal form.
    init(
        scheme: Scheme, host: String, port: UInt16, path: String, query: String?, fragment: String?,
        authority: String? = nil, text: String? = nil
    ) {
        let authority = authority ?? (port == scheme.defaultPort ? host : "\(host):\(port)")
        (self.scheme, self.host, self.port, self.authority) = (scheme, host, port, authority)
        (self.path, self.query, self.fragment) = (path, query, fragment)
        textWithoutFragment = text ?? scheme.prefix + authority + path + (query.map { "?" + $0 } ?? "")
    }

    package static func == (one: HTTPURL, other: HTTPURL) -> Bool {
        one.scheme == other.scheme && one.host == other.host && one.port == other.port && one.path == other.path
            && one.query == other.query && one.fragment == other.fragment
            && one.textWithoutFragment == other.textWithoutFragment
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(textWithoutFragment)
    }

    /// Path and query: the request's target.
    package var target: String { query.map { path + "?" + $0 } ?? path }

    /// The whole URL.
    package var text: String { fragment.map { "\(textWithoutFragment)#\($0)" } ?? textWithoutFragment }

    /// The URL for messages and logs, without what may be secret.
    package var redacted: String { "\(scheme.rawValue)://\(authority)\(path)\(query == nil ? "" : "?…")" }

    /// Scheme, host and port as one text, for tables.
    package var origin: String {
        port == scheme.defaultPort ? "\(scheme.prefix)\(host):\(port)" : scheme.prefix + authority
    }

    /// Whether both have scheme, host and port in common.
    package func hasSameOrigin(as other: HTTPURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The host without brackets, as a resolver takes it.
    package var hostWithoutBrackets: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }

    /// Whether the host is an address, which nobody has to look up.
    package var hasAddress: Bool {
        // A name's last label is no number: see `HTTPHostParser`.
        var label = 0
        for byte in host.utf8.reversed() {
            switch byte {
            case UInt8(ascii: "]"): return true
            case UInt8(ascii: "."): return label > 0  // behind the last dot of a name stands nothing
            default:
                guard byte.isDigit else { return false }
                label += 1
            }
        }
        return false
    }

    /// What a reference means that this URL's answer gave, as in `Location`; nil where it makes no `http` or `https` URL.
    package func resolving(_ reference: String) -> HTTPURL? { try? HTTPURLParser.resolve(reference, against: self) }
}
