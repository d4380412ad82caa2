// SPDX-License-Identifier: Apache-2.0

/// The one place where URLs are parsed. Strict: what RFC 3986 does not allow is refused, not repaired.
package enum HTTPURLParser {
    /// The length of the longest URL that is accepted.
    static let maximumLength = 16 * 1024

    /// The five parts of a URI reference (RFC 3986, appendix B), unchecked except for their characters.
    struct Parts {
        var scheme: Substring?
        var authority: Substring?
        var path: Substring
        var query: Substring?
        var fragment: Substring?
    }

    /// Parses an absolute URL.
    package static func parse(_ text: String) throws(HTTPClientError) -> HTTPURL {
        if let url = PlainURLReader.read(text) { return url }
        return try parseUnusual(text)
    }

    /// The complete parser; gives the same result for plain URLs.
    package static func parseUnusual(_ text: String) throws(HTTPClientError) -> HTTPURL {
        let parts = try split(text)
        guard let scheme = parts.scheme else {
            throw invalid(text, "has no scheme; begin with `https://`")
        }
        return try assemble(parts, scheme: scheme, text: text, ignoringUserInfo: false)
    }

    /// Parses a reference as in `Location`, relative to the URL that gave it (RFC 3986, section 5.2).
    ///
    /// User information in it is dropped: a server does not choose our credentials.
    static func resolve(_ text: String, against base: HTTPURL) throws(HTTPClientError) -> HTTPURL {
        var parts = try split(text)
        // RFC 9110, section 10.2.2: the fragment is kept unless the reference has one.
        let fragment = parts.fragment ?? base.fragment.map { $0[...] }
        if parts.scheme == nil, parts.authority == nil {
            if parts.path.isEmpty {
                parts.path = base.path[...]
                parts.query = parts.query ?? base.query.map { $0[...] }
            } else if !parts.path.hasPrefix("/") {
                let directory = base.path.prefix(through: base.path.lastIndex(of: "/") ?? base.path.startIndex)
                parts.path = (directory + parts.path)[...]
            }
            parts.authority = base.authority[...]
        }
        parts.fragment = fragment
        return try assemble(
            parts, scheme: parts.scheme ?? base.scheme.rawValue[...], text: text, ignoringUserInfo: true)
    }

    private static func split(_ text: String) throws(HTTPClientError) -> Parts {
        try check(length: text.utf8.count)
        try checkCharacters(text)
        var rest = text[...]
        let fragment = cut(&rest, from: "#")
        let query = cut(&rest, from: "?")
        var scheme: Substring?
        if let colon = rest.firstIndex(of: ":"), !rest[..<colon].contains("/") {
            scheme = rest[..<colon]
            rest = rest[rest.index(after: colon)...]
        }
        var authority: Substring?
        if rest.hasPrefix("//") {
            let start = rest.dropFirst(2)
            let end = start.firstIndex(of: "/") ?? start.endIndex
            authority = start[..<end]
            rest = start[end...]
        }
        return Parts(scheme: scheme, authority: authority, path: rest, query: query, fragment: fragment)
    }

    private static func check(length: Int) throws(HTTPClientError) {
        guard length > maximumLength else { return }
        throw HTTPClientError(
            .invalidURL, phase: .request,
            message: "the URL is \(length) bytes long; at most \(maximumLength) are allowed")
    }

    private static func assemble(
        _ parts: Parts, scheme: Substring, text: String, ignoringUserInfo: Bool
    ) throws(HTTPClientError) -> HTTPURL {
        guard let scheme = HTTPURL.Scheme(rawValue: scheme.lowercased()) else {
            // By the grammar, the host in `localhost:8080` is a scheme.
            if parts.authority == nil, parts.path.first?.isWholeNumber == true {
                throw invalid(text, "has no scheme; begin with `https://`, or `http://`")
            }
            throw invalid(text, "has the scheme `\(scheme)`; only `http` and `https` are spoken")
        }
        guard var authority = parts.authority else {
            throw invalid(text, "names no host; write `\(scheme.rawValue)://host/path`")
        }
        if let at = authority.lastIndex(of: "@") {
            guard ignoringUserInfo else {
                throw invalid("", "contains a user or password; send an `Authorization` field instead")
            }
            authority = authority[authority.index(after: at)...]
        }
        try check(length: [parts.authority, parts.path, parts.query].reduce(0) { $0 + ($1?.utf8.count ?? 0) })
        let (host, port) = try HTTPHostParser.parse(authority, text: text)
        for part in [parts.path, parts.query, parts.fragment] {
            guard let part, let character = part.first(where: { "[]".contains($0) }) else { continue }
            throw invalid(text, "contains `\(character)` outside of the host; write it percent-encoded")
        }
        return HTTPURL(
            scheme: scheme, host: host, port: port ?? scheme.defaultPort,
            path: removingDotSegments(parts.path), query: parts.query.map(String.init),
            fragment: parts.fragment.map(String.init))
    }

    /// Checks that every character is allowed by RFC 3986, and that each `%` begins a percent-encoded byte.
    private static func checkCharacters(_ text: String) throws(HTTPClientError) {
        let bytes = Array(text.utf8)
        for (place, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "%"):
                guard place + 2 < bytes.count, bytes[place + 1].isHexDigit, bytes[place + 2].isHexDigit else {
                    throw invalid(text, "has a `%` at byte \(place) that two hexadecimal digits do not follow")
                }
            case _ where byte.isAlphanumeric: break
            case _ where "-._~:/?#[]@!$&'()*+,;=".utf8.contains(byte): break
            case 0...0x20, 0x7F:
                throw invalid("", "contains a space or control character at byte \(place); percent-encode it")
            case 0x80... where isInAuthority(bytes[..<place]):
                throw invalid(text, "has a host that is not in ASCII; write it in punycode (`xn--…`)")
            default:
                throw invalid(text, "contains a character at byte \(place) that must be percent-encoded")
            }
        }
    }

    /// Whether the end of these first bytes of a URL is in its authority.
    private static func isInAuthority(_ bytes: ArraySlice<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count == 3 && parts[1].isEmpty && !bytes.contains { "?#".utf8.contains($0) }
    }

    /// RFC 3986, section 5.2.4.
    private static func removingDotSegments(_ path: Substring) -> String {
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (place, segment) in segments.enumerated() {
            let isLast = place == segments.count - 1
            switch segment.lowercased().decodingDots {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }

    private static func cut(_ text: inout Substring, from mark: Character) -> Substring? {
        guard let place = text.firstIndex(of: mark) else { return nil }
        defer { text = text[..<place] }
        return text[text.index(after: place)...]
    }

    /// `text` is shown in the message; pass an empty one if it may contain something secret.
    static func invalid(_ text: String, _ reason: String) -> HTTPClientError {
        var shown = text.prefix { $0 != "?" && $0 != "#" }.prefix(200)
        if text.contains("@") { shown = "" }  // the text before it may contain a password
        return HTTPClientError(
            .invalidURL, phase: .request, message: shown.isEmpty ? "the URL \(reason)" : "the URL `\(shown)` \(reason)")
    }
}

extension String {
    /// The text with each `%2e` replaced by the dot it stands for.
    fileprivate var decodingDots: String {
        guard count <= 6 else { return self }
        return split(separator: "%2e", omittingEmptySubsequences: false).joined(separator: ".")
    }
}
