// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkCore
import UplinkHTTP

/// A configuration that has been checked, with what was read once for it.
struct EngineSettings: Sendable {
    let configuration: CurlTransport.Configuration
    let proxies: ProxyRules
    let identityPassword: String?
    /// What libcurl asks a socket for at once: no more than a small part of what all bodies may hold, for each transfer has
    /// such a buffer, which is not counted, and a second one while it is paused.
    ///
    /// No multiple of a page, though the buffer stays where it is and what comes lies in pages: where bytes are copied to
    /// an address that is a little higher in its page than theirs, processors take each load for one of what has just been
    /// stored, and a copy takes five times as long or more. This would be so for all of a body, or for none; so it is for
    /// one read in 64 at most.
    let readSize: Int

    /// - Throws: `HTTPClientError` when a setting makes no sense.
    init(_ configuration: CurlTransport.Configuration) throws(HTTPClientError) {
        try configuration.validate()
        self.configuration = configuration
        proxies = try ProxyRules(configuration.proxy) { name in getenv(name).map { String(cString: $0) } }
        identityPassword = configuration.identity?.password()
        readSize = max(16 << 10, min(256 << 10, configuration.maximumBufferedBytes / 64)) - 64
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

    /// The host that libcurl looks up for a URL; nil where an address is known.
    func hostToLookUp(for url: HTTPURL, through proxy: CurlTransport.Proxy?) -> String? {
        guard configuration.unixSocket == nil else { return nil }
        let (host, port) =
            if let proxy, proxy.resolvesNames { (proxy.host, proxy.port) } else { (url.host, url.port) }
        let isAddress = IPAddress(host) != nil || host.hasPrefix("[")
        return isAddress || configuration.addresses(ofHost: host, port: port) != nil ? nil : host
    }
}
