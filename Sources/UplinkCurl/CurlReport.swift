// SPDX-License-Identifier: Apache-2.0
import CLibCurl

/// What libcurl knows about a failure, as values.
struct CurlReport: Equatable {
    var code: CURLcode
    var text = ""
    var errno: CInt = 0
    /// OpenSSL's verdict on the certificate (`SSL_get_verify_result(3)`).
    var verifyResult = 0
    /// The same of the proxy's certificate.
    var proxyVerifyResult = 0
    /// What a SOCKS proxy answered.
    var proxyError = CURLPX_OK
    /// Whether the host's name has been resolved.
    var isResolved = false
    /// The status of a proxy's answer to CONNECT; 0 without one.
    var connectStatus = 0

    /// What the system has refused. After other failures libcurl before 8.10 still has the number of an earlier one,
    /// perhaps of another transfer.
    private static let codesWithErrno = [
        CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_SEND_ERROR, CURLE_RECV_ERROR,
    ]

    init(code: CURLcode, text: String = "") {
        self.code = code
        self.text = text
    }

    /// Reads the report from the handle, which must still be there.
    init(code: CURLcode, handle: EasyHandle) {
        self.init(code: code, text: handle.text)
        if Self.codesWithErrno.contains(code) { errno = CInt(truncatingIfNeeded: handle.long(CURLINFO_OS_ERRNO)) }
        verifyResult = handle.long(CURLINFO_SSL_VERIFYRESULT)
        proxyVerifyResult = handle.long(CURLINFO_PROXY_SSL_VERIFYRESULT)
        proxyError = CURLproxycode(UInt32(truncatingIfNeeded: handle.long(CURLINFO_PROXY_ERROR)))
        isResolved = handle.offset(CURLINFO_NAMELOOKUP_TIME_T) > 0
        connectStatus = handle.long(CURLINFO_HTTP_CONNECTCODE)
    }
}
