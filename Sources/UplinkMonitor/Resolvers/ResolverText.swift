// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore

/// Parses the name servers in the text of a resolver's file (resolv.conf(5)). Pure.
enum ResolverText {
    /// As many as the C library asks (`MAXNS`).
    private static let limit = 3

    /// Parses the lines that begin with `nameserver`, as the C library does; values that are not addresses are skipped.
    /// Nothing but a line feed ends a line, so that a name server with a carriage return behind it is none.
    static func resolvers(in text: String) -> [DNSConfiguration.Resolver] {
        let resolvers = text.unicodeScalars.split(separator: "\n").compactMap { line -> DNSConfiguration.Resolver? in
            let line = String(line)
            let words = line.split { $0 == " " || $0 == "\t" }
            guard line.hasPrefix("nameserver"), words.count > 1, words[0] == "nameserver" else { return nil }
            let parts = words[1].split(separator: "%", maxSplits: 1)
            guard let address = parts.first.flatMap({ parsed(String($0)) }) else { return nil }
            return DNSConfiguration.Resolver(address: address, zone: parts.count > 1 ? String(parts[1]) : nil)
        }
        return Array(resolvers.prefix(limit))
    }

    /// An address as the C library takes it, which knows more forms of IPv4 here than elsewhere (inet_aton(3)).
    private static func parsed(_ text: String) -> IPAddress? {
        if let address = IPAddress(text) { return address }
        var number = in_addr()
        // A blank behind the address, such as a carriage return, is nothing to this function.
        guard text.allSatisfy({ $0.isHexDigit || $0 == "." || $0 == "x" || $0 == "X" }), inet_aton(text, &number) != 0
        else { return nil }
        return IPAddress(ipv4: UInt32(bigEndian: number.s_addr))
    }
}
