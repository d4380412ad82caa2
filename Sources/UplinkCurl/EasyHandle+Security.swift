// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import SystemPackage
import UplinkHTTP

extension EasyHandle {
    func setSecurity(_ trust: CurlTransport.Trust) {
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        set(CURLOPT_PROXY, "")  // nothing from the environment
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        switch trust {
        case .system: guard LibCurl.hasAuthorityFile else { return }
        case .authorities(let file): set(CURLOPT_CAINFO, file.string)
        }
        // The file alone: with a directory beside it libcurl reads all authorities again for every connection.
        note(uplink_easy_set_string(curl, CURLOPT_CAPATH, nil))
    }
}
