// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Uplink

/// What a path is validated with: an `http` URL that answers 204, or `tcp://HOST:PORT`.
struct ProbeArgument: Sendable {
    let probe: ValidationProbe

    static func parse(_ text: String) throws -> Self {
        guard text.hasPrefix("tcp://") else {
            let url = try URLArgument.parse(text)
            return Self(probe: .http204(url.text))
        }
        // The parser for URLs handles hosts and ports, so it is given an http URL with the same host and port.
        let authority = text.dropFirst("tcp://".count)
        guard !authority.contains("/"), let (host, port) = URLArgument.hostAndPort("http://\(authority)/") else {
            throw ValidationError("give tcp://HOST:PORT, such as tcp://example.org:443")
        }
        return Self(probe: .tcpConnect(to: host, port: port))
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
