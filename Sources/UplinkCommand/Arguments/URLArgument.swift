// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import HTTPTypes
import UplinkCore
import UplinkHTTP

/// A URL on the command line, checked before anything is done.
struct URLArgument: Sendable {
    let text: String
    /// Scheme, host and port.
    let origin: String
    /// Path and query.
    let target: String
    private let host: String

    static func parse(_ text: String) throws -> Self {
        do throws(HTTPClientError) {
            let request = try HTTPRequest(parsing: text)
            let url = try request.checkedURL()
            return Self(text: text, origin: url.origin, target: request.path ?? "/", host: url.hostWithoutBrackets)
        } catch {
            throw ValidationError(CommandFailure.inOptions(error.message))
        }
    }

    /// Host and port of an authority that names both (RFC 3986, section 3.2).
    static func hostAndPort(of authority: some StringProtocol) -> (host: String, port: UInt16)? {
        guard !authority.contains(where: { "/?#".contains($0) }) else { return nil }
        // A URL does not say whether it names its scheme's own port, but of two schemes one has another.
        for scheme in ["http", "https"] {
            guard let url = try? HTTPRequest(parsing: "\(scheme)://\(authority)/").checkedURL() else { return nil }
            if url.authority != url.host { return (url.hostWithoutBrackets, url.port) }
        }
        return nil
    }

    /// What reaching the host requires of the network; nil for this host itself, which is always there.
    var way: RequirementArgument? { .way(to: host, forNames: .internet) }

    /// The same for callers that have one path for all hosts, and cannot be as specific about an address.
    var requirement: NetworkRequirement? {
        guard let address = IPAddress(host) else { return LocalName.isLoopback(host) ? nil : .internet }
        if address.isLoopback { return nil }
        if address.isLinkLocal || address.isPrivate { return .localNetwork }
        return address.family == .ipv6 ? .ipv6 : .ipv4
    }
}
