// SPDX-License-Identifier: Apache-2.0
import Glibc
import UplinkHTTP

/// A configuration that has been checked, with what was read once for it.
struct EngineSettings: Sendable {
    let configuration: CurlTransport.Configuration
    let proxies: ProxyRules
    let identityPassword: String?

    /// - Throws: `HTTPClientError` when a setting makes no sense.
    init(_ configuration: CurlTransport.Configuration) throws(HTTPClientError) {
        try configuration.validate()
        self.configuration = configuration
        proxies = try ProxyRules(configuration.proxy) { name in getenv(name).map { String(cString: $0) } }
        identityPassword = configuration.identity?.password()
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
}
