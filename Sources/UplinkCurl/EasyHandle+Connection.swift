// SPDX-License-Identifier: Apache-2.0
import CLibCurl
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
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_TCP_KEEPIDLE, 30)
        set(CURLOPT_TCP_KEEPINTVL, 10)
        set(CURLOPT_MAXAGE_CONN, 60)
        set(CURLOPT_MAXLIFETIME_CONN, 600)
        switch configuration.addressFamily {
        case .ipv4: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        case nil: break
        }
        let key = "\(transfer.url.host):\(transfer.url.port)"
        if let addresses = configuration.resolve[key] {
            set(CURLOPT_RESOLVE, list: ["\(key):\(addresses.map(\.description).joined(separator: ","))"])
        }
    }
}
