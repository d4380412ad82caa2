// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink

/// What a path is validated with: an `http` URL that answers 204, or `tcp://HOST:PORT`.
struct ProbeArgument: Sendable {
    let probe: ValidationProbe

    static func parse(_ text: String) throws -> Self {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        switch parts[0].lowercased() {
        case "http", "https": return Self(probe: .http204(try URLArgument.parse(text).text))
        case "tcp":
            guard let authority = parts.dropFirst().first,
                let (host, port) = URLArgument.hostAndPort(of: authority)
            else {
                throw ValidationError("give tcp://HOST:PORT, such as tcp://example.org:443")
            }
            return Self(probe: .tcpConnect(to: host, port: port))
        default: throw ValidationError("give an http:// URL that answers 204, or tcp://HOST:PORT")
        }
    }
}

/// An address family as people write it.
enum FamilyArgument {
    static func parse(_ text: String) throws -> IPAddress.Family {
        switch text {
        case "4", "ipv4": return .ipv4
        case "6", "ipv6": return .ipv6
        default: throw ValidationError("give 4 or 6")
        }
    }
}
