// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import SystemPackage
import UplinkCore
import UplinkHTTP

extension EasyHandle {
    func setConnection(_ transfer: CurlTransfer, _ configuration: CurlTransport.Configuration) {
        let timeouts = transfer.exchange.request.timeouts
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_QUICK_EXIT, 1)  // or a cancelled lookup blocks the loop
        // The second line behind our own timer, and what libcurl reckons an address's share of the time from.
        if let connect = [timeouts.connect, timeouts.total].compactMap({ $0 }).min() {
            let milliseconds = connect.nanosecondsRoundedUp / 1_000_000
            set(CURLOPT_CONNECTTIMEOUT_MS, Int(min(milliseconds, 86_400_000)) + 100)
        }
        if let idle = configuration.keepAlive {
            set(CURLOPT_TCP_KEEPALIVE, 1)
            set(CURLOPT_TCP_KEEPIDLE, idle.wholeSeconds)
            set(CURLOPT_TCP_KEEPINTVL, max(1, idle.wholeSeconds / 3))
        }
        set(CURLOPT_MAXAGE_CONN, configuration.maximumIdleTime.wholeSeconds)
        set(CURLOPT_MAXLIFETIME_CONN, configuration.maximumConnectionAge.wholeSeconds)
        switch configuration.addressFamily {
        case .ipv4: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        case nil: break
        }
        switch configuration.localEnd {
        case .interface(let name): set(CURLOPT_INTERFACE, "if!\(name)")
        case .address(let address): set(CURLOPT_INTERFACE, "host!\(address)")
        case nil: break
        }
        if let path = configuration.unixSocket { set(CURLOPT_UNIX_SOCKET_PATH, path.string) }
        if let addresses = configuration.addresses(for: transfer.url) {
            let key = "\(transfer.url.host):\(transfer.url.port)"
            set(CURLOPT_RESOLVE, list: ["\(key):\(addresses.map(\.description).joined(separator: ","))"])
        }
    }

    /// The environment's proxies are never asked for by libcurl: what is wanted of them, `ProxyRules` has read.
    func setProxy(_ proxy: CurlTransport.Proxy?) {
        set(CURLOPT_NOPROXY, "")
        guard let proxy else { return set(CURLOPT_PROXY, "") }
        set(CURLOPT_PROXY, proxy.url)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)  // they are not the answer
        set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))  // what is for the server is not for the proxy
        set(CURLOPT_PROXYAUTH, uplink_auth_basic)
        set(CURLOPT_SOCKS5_AUTH, uplink_auth_basic)
        if let credentials = proxy.credentials {
            set(CURLOPT_PROXYUSERNAME, credentials.user)
            set(CURLOPT_PROXYPASSWORD, credentials.password)
        }
    }
}
