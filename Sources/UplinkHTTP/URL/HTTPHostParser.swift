// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// Parses `host[:port]`.
enum HTTPHostParser {
    static func parse(_ authority: Substring, text: String) throws(HTTPClientError) -> (host: String, port: UInt16?) {
        guard authority.hasPrefix("[") else {
            let colon = authority.firstIndex(of: ":")
            let host = authority[..<(colon ?? authority.endIndex)]
            let port = colon.map { authority[authority.index(after: $0)...] }
            return (try name(host, text: text), try number(port, text: text))
        }
        guard let end = authority.firstIndex(of: "]") else {
            throw HTTPURLParser.invalid(text, "begins an IPv6 address with `[` and does not end it with `]`")
        }
        let literal = authority[authority.index(after: authority.startIndex)..<end]
        guard let address = IPAddress(String(literal)), address.family == .ipv6 else {
            throw HTTPURLParser.invalid(
                text, "has `\(literal)` in brackets, which is no IPv6 address (zones such as `%eth0` are not supported)"
            )
        }
        let rest = authority[authority.index(after: end)...]
        guard rest.isEmpty || rest.hasPrefix(":") else {
            throw HTTPURLParser.invalid(text, "has `\(rest)` after the IPv6 address; only a port may follow")
        }
        return ("[\(address)]", try number(rest.isEmpty ? nil : rest.dropFirst(), text: text))
    }

    /// A name of letters, digits, `-` and `_`, or an IPv4 address in its one unambiguous form.
    private static func name(_ host: Substring, text: String) throws(HTTPClientError) -> String {
        guard !host.isEmpty else { throw HTTPURLParser.invalid(text, "has an empty host") }
        let whole = host.hasSuffix(".") ? host.dropLast() : host
        let labels = whole.split(separator: ".", omittingEmptySubsequences: false)
        for label in labels {
            guard (1...63).contains(label.utf8.count), whole.utf8.count <= 253 else {
                throw HTTPURLParser.invalid(text, "has a host whose labels are not all 1 to 63 bytes (253 in all)")
            }
            guard label.utf8.allSatisfy({ $0.isAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
            else {
                throw HTTPURLParser.invalid(
                    text,
                    "has a host with other characters than letters, digits, `-` and `.`; "
                        + "write international names in their `xn--` form")
            }
        }
        // A resolver reads `0x7f.1` and `2130706433` as addresses; people do not.
        if let last = labels.last, last.utf8.allSatisfy(\.isDigit) || last.lowercased().hasPrefix("0x") {
            guard let address = IPAddress(String(whole)), address.family == .ipv4 else {
                throw HTTPURLParser.invalid(text, "has a host that ends in a number and is no IPv4 address `a.b.c.d`")
            }
        }
        return host.lowercased()
    }

    private static func number(_ port: Substring?, text: String) throws(HTTPClientError) -> UInt16? {
        guard let port, !port.isEmpty else { return nil }
        guard port.utf8.allSatisfy(\.isDigit), let number = UInt16(port), number > 0 else {
            let shown = text.contains("@") ? "a port that is none" : "the port `\(port)`"
            throw HTTPURLParser.invalid(text, "has \(shown); ports are numbers from 1 to 65535")
        }
        return number
    }
}
