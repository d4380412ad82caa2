// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import SystemPackage
import UplinkCore
import UplinkHTTP

extension EasyHandle {
    func setConnection(_ configuration: CurlTransport.Configuration) {
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_QUICK_EXIT, 1)  // otherwise a cancelled lookup blocks the loop
        if let idle = configuration.keepAlive {
            set(CURLOPT_TCP_KEEPALIVE, 1)
            set(CURLOPT_TCP_KEEPIDLE, idle.wholeSeconds)
            set(CURLOPT_TCP_KEEPINTVL, max(1, idle.wholeSeconds / 3))
        }
        set(CURLOPT_MAXAGE_CONN, configuration.maximumIdleTime.wholeSeconds)
        set(CURLOPT_MAXLIFETIME_CONN, configuration.maximumConnectionAge.wholeSeconds)
        switch configuration.addressFamily {
        case _ where configuration.unixSocket != nil: break  // whose family is another one, and libcurl would refuse it
        case .ipv4: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        case nil: break
        }
        // Sockets are bound to an interface as they are made. libcurl would only use its address, and say nothing,
        // where the system refuses that.
        if case .address(let address) = configuration.localEnd { set(CURLOPT_INTERFACE, "host!\(address)") }
        if let path = configuration.unixSocket { set(CURLOPT_UNIX_SOCKET_PATH, path) }
        // libcurl never uses the environment's proxies: `ProxyRules` has read them if they are wanted.
        set(CURLOPT_NOPROXY, "")
        set(CURLOPT_PROXY, "")
    }

    /// Sets libcurl's connect timeout, a backup for our own timer, from which libcurl also computes each address's
    /// share of the time.
    func setConnectTimeout(_ timeouts: HTTPTimeouts) {
        guard let limit = timeouts.connect.map({ min($0, timeouts.total ?? $0) }) ?? timeouts.total else {
            return setConnectTimeout(Int(CInt.max))  // zero would be 300 seconds
        }
        setConnectTimeout(Int(min(limit.nanosecondsRoundedUp / 1_000_000, 86_400_000)) + 100)
    }

    /// Sets the addresses that the configuration has for the hosts that a transfer connects to.
    func setAddresses(for transfer: CurlTransfer, _ configuration: CurlTransport.Configuration) {
        let hosts = [(transfer.url.host, transfer.url.port)] + (transfer.proxy.map { [($0.host, $0.port)] } ?? [])
        let entries = hosts.compactMap { host, port in
            configuration.addresses(ofHost: host, port: port).map { addresses in
                "\(host):\(port):\(addresses.map(\.description).joined(separator: ","))"
            }
        }
        guard !entries.isEmpty else { return }
        isParticular = true
        set(CURLOPT_RESOLVE, list: entries)
    }

    func setProxy(_ proxy: CurlTransport.Proxy, for url: HTTPURL) {
        isParticular = true
        if proxy.kind.forwards, url.scheme == .https { setTunnelCallback() }
        if proxy.kind == .https, url.scheme == .https, LibCurl.hasOpenSSL { note(uplink_easy_leave_openssl(curl)) }
        set(CURLOPT_PROXY, proxy.url)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)  // those are not the answer's
        set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))  // the server's fields are not for the proxy
        guard let credentials = proxy.credentials else { return }
        if proxy.kind.forwards {
            let credential = Base64.encode("\(credentials.user):\(credentials.password)".utf8)
            set(CURLOPT_PROXYHEADER, list: ["Proxy-Authorization: Basic \(credential)"])
        } else {
            set(CURLOPT_PROXYAUTH, 0)  // otherwise libcurl takes a server's 407 for the proxy's
            set(CURLOPT_SOCKS5_AUTH, uplink_auth_basic)
            set(CURLOPT_PROXYUSERNAME, forProxy(credentials.user))
            set(CURLOPT_PROXYPASSWORD, forProxy(credentials.password))
        }
    }

    private func forProxy(_ credential: String) -> String {
        guard LibCurl.decodesProxyCredentials, credential.utf8.contains(UInt8(ascii: "%")) else { return credential }
        // If the transfer's connection was used before and turns out dead, libcurl decodes for the next one what it has
        // decoded.
        setFreshConnection(true)
        return PercentEncoding.encode(credential.utf8) { $0 < 0x80 && $0 != UInt8(ascii: "%") }
    }
}
