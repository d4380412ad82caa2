// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import SystemPackage
import UplinkHTTP

extension EasyHandle {
    func setSecurity(_ settings: EngineSettings) {
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        if LibCurl.hasOpenSSL { note(uplink_easy_set_up_openssl(curl)) }
        setTrust(settings.configuration.trust)
        setVersion(settings.configuration.minimumTLSVersion)
        if !settings.configuration.pinnedKeys.isEmpty {
            set(CURLOPT_PINNEDPUBLICKEY, settings.configuration.pinnedKeys.joined(separator: ";"))
        }
        if let identity = settings.configuration.identity { setIdentity(identity, settings.identityPassword?.text) }
    }

    /// For how many seconds authorities may be used after they were read; libcurl's default is a day.
    private static let authoritiesAge = 300

    /// No directory, so that no authority is found in it. (libcurl 8.21 takes NULL for the system's.)
    private static let noAuthorities = "/dev/null"

    /// Sets which certificates are trusted, for servers and for `https` proxies alike.
    private func setTrust(_ trust: CurlTransport.Trust) {
        let isChecked = trust != .dangerouslyAcceptAnyCertificate
        for option in [CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER] { set(option, isChecked ? 1 : 0) }
        for option in [CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST] { set(option, isChecked ? 2 : 0) }
        // Only the file: with a directory as well, libcurl reads all authorities again for every connection.
        var directory: String?
        switch trust {
        case .dangerouslyAcceptAnyCertificate: return
        case .system: guard LibCurl.hasAuthorityFile else { return }
        case .authorities(let file):
            for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { set(option, file) }
            if LibCurl.addsAuthorityDirectory { directory = Self.noAuthorities }
        }
        set(CURLOPT_CA_CACHE_TIMEOUT, Self.authoritiesAge)
        for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { note(uplink_easy_set_string(curl, option, directory)) }
    }

    private func setVersion(_ version: CurlTransport.TLSVersion) {
        let least =
            switch version {
            case .tls12: CURL_SSLVERSION_TLSv1_2
            case .tls13: CURL_SSLVERSION_TLSv1_3
            }
        for option in [CURLOPT_SSLVERSION, CURLOPT_PROXY_SSLVERSION] { set(option, Int(least)) }
    }

    private func setIdentity(_ identity: CurlTransport.ClientIdentity, _ password: String?) {
        switch identity.form {
        case .pem(let certificate, let key):
            set(CURLOPT_SSLCERTTYPE, "PEM")
            set(CURLOPT_SSLCERT, certificate)
            set(CURLOPT_SSLKEYTYPE, "PEM")
            set(CURLOPT_SSLKEY, key)
        case .pkcs12(let file):
            set(CURLOPT_SSLCERTTYPE, "P12")
            set(CURLOPT_SSLCERT, file)
        }
        // Without a password OpenSSL would ask the terminal.
        set(CURLOPT_KEYPASSWD, password ?? "")
    }
}
