// SPDX-License-Identifier: Apache-2.0

/// An absolute `http` or `https` URL that has been checked (RFC 3986, RFC 9110 section 4.2).
///
/// An object, because every request is copied several times on its way.
package final class HTTPURL: Sendable, Hashable {
    /// The scheme of a URL.
    package enum Scheme: String, Sendable, Hashable {
        case http
        case https

        package var defaultPort: UInt16 { self == .http ? 80 : 443 }

        /// The beginning of a URL.
        var prefix: String { self == .http ? "http://" : "https://" }
    }

    /// The scheme.
    package let scheme: Scheme
    /// The host in lower case: a name, an IPv4 address, or an IPv6 address in brackets.
    package let host: String
    /// The port; the scheme's default is filled in.
    package let port: UInt16
    /// The text after `#`; never sent.
    package let fragment: String?
    /// The URL to request: everything but the fragment.
    package let textWithoutFragment: String
    /// The lengths of it in bytes up to the path, and up to the query.
    private let pathStart, pathEnd: Int

    /// - Parameters:
    ///   - text: The URL without a fragment, in its normal form.
    ///   - path: The range of the path in it, in bytes.
    init(scheme: Scheme, host: String, port: UInt16, text: String, path: Range<Int>, fragment: String? = nil) {
        (self.scheme, self.host, self.port, self.fragment) = (scheme, host, port, fragment)
        (textWithoutFragment, pathStart, pathEnd) = (text, path.lowerBound, path.upperBound)
    }

    convenience init(scheme: Scheme, host: String, port: UInt16, path: String, query: String?, fragment: String?) {
        let start = scheme.prefix + (port == scheme.defaultPort ? host : "\(host):\(port)")
        let whole = start.utf8.count..<start.utf8.count + path.utf8.count
        self.init(
            scheme: scheme, host: host, port: port, text: start + path + (query.map { "?" + $0 } ?? ""), path: whole,
            fragment: fragment)
    }

    package static func == (one: HTTPURL, other: HTTPURL) -> Bool {
        one.textWithoutFragment == other.textWithoutFragment && one.fragment == other.fragment && one.host == other.host
            && (one.scheme, one.port, one.pathStart, one.pathEnd)
                == (other.scheme, other.port, other.pathStart, other.pathEnd)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(textWithoutFragment)
    }

    private func text(from start: Int, to end: Int? = nil) -> String {
        let bytes = textWithoutFragment.utf8
        return String(decoding: bytes.dropFirst(start).prefix((end ?? bytes.count) - start), as: UTF8.self)
    }

    /// Host and port as a request carries them; the default port is left out.
    package var authority: String { text(from: scheme.prefix.utf8.count, to: pathStart) }

    /// The path; begins with a slash, has no dot segments.
    package var path: String { text(from: pathStart, to: pathEnd) }

    /// The text between `?` and `#`.
    package var query: String? { hasQuery ? text(from: pathEnd + 1) : nil }

    private var hasQuery: Bool { pathEnd < textWithoutFragment.utf8.count }

    /// The path and the query: the request's target.
    package var target: String { text(from: pathStart) }

    /// The whole URL.
    package var text: String { fragment.map { "\(textWithoutFragment)#\($0)" } ?? textWithoutFragment }

    /// The URL for messages and logs, without what may be secret.
    package var redacted: String { text(from: 0, to: pathEnd) + (hasQuery ? "?…" : "") }

    /// Scheme, host and port as one text, for tables.
    package var origin: String {
        port == scheme.defaultPort ? "\(scheme.prefix)\(host):\(port)" : text(from: 0, to: pathStart)
    }

    /// Whether both have scheme, host and port in common.
    package func hasSameOrigin(as other: HTTPURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The host without brackets, as a resolver takes it.
    package var hostWithoutBrackets: String { host.withoutBrackets }

    /// Resolves a reference that this URL's response gave, as in `Location`; nil if it does not form an `http` or
    /// `https` URL.
    package func resolving(_ reference: String) -> HTTPURL? { try? HTTPURLParser.resolve(reference, against: self) }
}

extension String {
    /// A URL's host without the brackets of an IPv6 address.
    package var withoutBrackets: String { hasPrefix("[") ? String(dropFirst().dropLast()) : self }
}
