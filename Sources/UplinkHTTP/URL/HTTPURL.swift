// SPDX-License-Identifier: Apache-2.0

/// An absolute `http` or `https` URL that has been checked (RFC 3986, RFC 9110 section 4.2).
package struct HTTPURL: Sendable, Hashable {
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
    package var authority: String { port == scheme.defaultPort ? host : host + ":" + String(port) }

    /// Path and query: the request's target.
    package var target: String { query.map { path + "?" + $0 } ?? path }

    /// What is asked for: everything but the fragment.
    package var textWithoutFragment: String {
        var text = ""
        text.reserveCapacity(16 + host.utf8.count + path.utf8.count + (query?.utf8.count ?? 0))
        text += scheme.prefix
        text += host
        if port != scheme.defaultPort {
            text += ":"
            text += String(port)
        }
        text += path
        if let query {
            text += "?"
            text += query
        }
        return text
    }

    /// The whole URL.
    package var text: String { textWithoutFragment + (fragment.map { "#\($0)" } ?? "") }

    /// The URL for messages and logs, without what may be secret.
    package var redacted: String { "\(scheme.rawValue)://\(authority)\(path)\(query == nil ? "" : "?…")" }

    /// Scheme, host and port as one text, for tables.
    package var origin: String { scheme.prefix + host + ":" + String(port) }

    /// Whether both have scheme, host and port in common.
    package func hasSameOrigin(as other: Self) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The host without brackets, as a resolver takes it.
    package var hostWithoutBrackets: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }

    /// What a reference means that this URL's answer gave, as in `Location`; nil where it makes no `http` or `https` URL.
    package func resolving(_ reference: String) -> HTTPURL? { try? HTTPURLParser.resolve(reference, against: self) }
}
