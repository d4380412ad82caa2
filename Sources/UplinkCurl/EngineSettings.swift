// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
import UplinkHTTP

/// A configuration that has been checked, with what has been read once for it.
struct EngineSettings: Sendable {
    let configuration: CurlTransport.Configuration
    let proxies: ProxyRules
    let identityPassword: Secret?
    /// How many bytes libcurl reads from a socket in one call: only a small part of what all bodies may hold, because
    /// each transfer has such a buffer, which is not counted, and a second one while it is paused. But it is more than a
    /// record of TLS: what OpenSSL keeps of one, nobody would see behind the last chunk.
    ///
    /// It is not a multiple of a page. When bytes are copied to an address that is slightly higher within its page than
    /// theirs, processors mistake each load for one of what has just been stored, and the copy takes five times as long
    /// or more. With whole pages that would happen for all of a body or for none, because both buffers stay where they
    /// are; so it happens for one read in 64 at most.
    let readSize: Int

    /// - Throws: `HTTPClientError` when a setting is invalid.
    init(_ configuration: CurlTransport.Configuration) throws(HTTPClientError) {
        let absolute = configuration.withAbsoluteFiles
        try absolute.validate()
        self.configuration = absolute
        proxies = try ProxyRules(configuration.proxy) { name in getenv(name).map { String(cString: $0) } }
        identityPassword = (configuration.identity?.password()).map(Secret.init)
        readSize = max((16 << 10) + 64, min(256 << 10, configuration.maximumBufferedBytes / 64) - 64)
        if configuration.trust == .dangerouslyAcceptAnyCertificate {
            let warning = "Uplink: a transport accepts any certificate; its connections can be read and changed"
            if let warn = configuration.warn {
                warn(warning)
            } else {
                let line = Array("\(warning)\n".utf8)
                _ = write(STDERR_FILENO, line, line.count)
            }
        }
    }

    /// What libcurl looks up for a URL, by the name that it has in libcurl's cache: host and port; nil if an address is
    /// known. For a proxy that resolves no names these are two, of which it is the host's.
    func lookup(for url: HTTPURL, through proxy: CurlTransport.Proxy?) -> String? {
        guard configuration.unixSocket == nil else { return nil }
        var ends = proxy.map { [($0.host, $0.port)] } ?? []
        if proxy?.resolvesNames != true { ends.insert((url.host, url.port), at: 0) }
        let unknown = ends.first { host, port in
            let isAddress = IPAddress(host) != nil || host.hasPrefix("[")
            return !isAddress && configuration.addresses(ofHost: host, port: port) == nil
        }
        return unknown.map { "\($0.0):\($0.1)" }
    }
}
