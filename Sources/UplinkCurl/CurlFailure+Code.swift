// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkHTTP

/// Our names for libcurl's errors, and what to do about them.
extension CurlFailure {
    /// How far a transfer got, according to its machine and libcurl.
    static func phase(_ phase: TransferMachine.Phase, _ report: CurlReport?) -> HTTPClientError.Phase {
        switch phase {
        case .queued: .queue
        case .gated: .dns
        case .connecting: report.map { $0.isOfTLS ? .tls : $0.isResolved ? .connect : .dns } ?? .connect
        case .awaitingHead: report?.isOfIdentity == true ? .tls : .firstByte
        case .bodyFlowing, .bodyPaused, .ended: .body
        }
    }

    static func code(of report: CurlReport, in phase: HTTPClientError.Phase) -> (Code, String) {
        switch report.code {
        case CURLE_URL_MALFORMAT: (.invalidURL, "libcurl refuses the URL; check it")
        case CURLE_UNSUPPORTED_PROTOCOL:
            (.invalidResponse, "the server does not answer in HTTP/1; is it an HTTP server?")
        case CURLE_COULDNT_RESOLVE_HOST where report.text.contains("thread failed to start"):
            (
                .connectionFailed,
                "there is no thread or descriptor to look the host's name up; send fewer requests at the same time, or "
                    + "raise the limits (ulimit -n, ulimit -u)"
            )
        case CURLE_COULDNT_RESOLVE_HOST:
            (.dnsFailed, "the host's name cannot be resolved; check the name and the network's DNS")
        case CURLE_COULDNT_RESOLVE_PROXY:
            (.proxyFailed, "the proxy's name cannot be resolved; check the name and the network's DNS")
        case CURLE_COULDNT_CONNECT:
            (.connectionFailed, "no connection to the server; check that it runs and that there is a way to it")
        case CURLE_INTERFACE_FAILED:
            (.bindingFailed, "the connection cannot be bound to `localEnd`; is the interface or address there?")
        case CURLE_OPERATION_TIMEDOUT:
            (.connectTimeout, "no connection in time; check that there is a way to the server")
        case CURLE_GOT_NOTHING: (.emptyReply, "the server closed the connection without an answer; try again")
        case CURLE_PARTIAL_FILE: (.truncated, "the body ended before its end; try again")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER: handshake(report)
        // The server's alert that the client's certificate has expired comes under the same code, without a verdict.
        case CURLE_PEER_FAILED_VERIFICATION where report.text == "SSL certificate verification failed":
            (.clientCertificateRefused, "the server refuses the client's certificate; check `identity`")
        case CURLE_PEER_FAILED_VERIFICATION: certificate(report.verifyResult, of: "server")
        case CURLE_SSL_CLIENTCERT: certificateRequired
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            (
                .certificatePinMismatch,
                "the server's key is none of `pinnedKeys`; has it a new one, or does somebody listen in?"
            )
        case CURLE_SSL_CACERT_BADFILE:
            (.invalidConfiguration, "the file of trusted authorities cannot be read; check `trust`")
        // The second for a key, since 8.16.
        case CURLE_SSL_CERTPROBLEM,
            CURLE_BAD_FUNCTION_ARGUMENT where report.text.contains("private key file"):
            (
                .invalidConfiguration,
                "the client's certificate or key cannot be used; check `identity`, its files and password"
            )
        // Since 8.21, of trailer fields. (A chunk's size that begins with `0x` looks like the last one, and the rest of
        // its line like such a field.)
        case CURLE_WEIRD_SERVER_REPLY where phase == .body && report.text.contains("without colon"):
            (.invalidFraming, "the body's chunks or trailer fields are malformed")
        case CURLE_WEIRD_SERVER_REPLY:
            report.text.contains("Content-Length")
                ? (.invalidFraming, "Content-Length is not one number") : (.invalidResponse, "the head is malformed")
        // libcurl's code for a line that it cannot parse.
        case CURLE_BAD_FUNCTION_ARGUMENT where phase == .firstByte:
            (.invalidFraming, "a line of the answer's head is no field")
        case CURLE_BAD_FUNCTION_ARGUMENT where phase == .body:
            (.invalidFraming, "the body's chunks or trailer fields are malformed")
        case CURLE_BAD_CONTENT_ENCODING: (.invalidFraming, "the answer has more transfer codings than libcurl reads")
        case CURLE_OUT_OF_MEMORY where phase == .firstByte, uplink_code_too_large where phase == .firstByte:
            (.headerTooLarge, "a line of the answer's head is larger than libcurl takes")
        case uplink_code_too_large where phase == .body:
            (.headerTooLarge, "a trailer field of the answer is larger than libcurl takes")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR: broken(report)
        case CURLE_SEND_FAIL_REWIND:
            (bodyIsGone.code, bodyIsGone.message)
        default: (.engine, "libcurl failed in an unexpected way")
        }
    }

    /// The error if something failed between this host and a proxy, or the proxy refused it; nil if it comes from the
    /// server itself.
    static func code(of report: CurlReport, through proxy: CurlTransport.Proxy) -> (Code, String)? {
        switch report.code {
        case _ where report.connectStatus == 407: (.proxyRefused, "the proxy wants other credentials")
        case CURLE_PEER_FAILED_VERIFICATION where report.proxyVerifyResult != 0:
            certificate(report.proxyVerifyResult, of: "proxy")
        case CURLE_PROXY: socks(report.proxyError)
        // OpenSSL's reason is lost where libcurl tells the server why, through the TLS to the proxy.
        case CURLE_SSL_CONNECT_ERROR where proxy.kind == .https && report.text.contains("SSL_ERROR_SYSCALL"):
            (.tlsFailed, "the TLS handshake with the server failed; is its certificate trusted, and not expired?")
        // 7 for a refused tunnel since 8.20.
        case CURLE_COULDNT_CONNECT, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            if ["response 502", "response 503", "response 504"].contains(where: report.text.contains) {
                (.proxyFailed, serverUnreachable)
            } else if report.isOfTunnel, !report.text.contains("response 0") {
                (.proxyRefused, "the proxy refuses to connect to the server; check its rules, and that the server runs")
            } else if report.code == CURLE_COULDNT_CONNECT {
                (.proxyFailed, "no connection to the proxy; check that it runs")
            } else {
                (.proxyFailed, "the proxy closed the connection; does it speak what its URL says?")
            }
        default: nil
        }
    }

    /// How far a transfer got whose way through a proxy failed.
    static func phase(ofFailureAtProxy code: Code, _ phase: HTTPClientError.Phase) -> HTTPClientError.Phase {
        switch code {
        case .dnsFailed: .dns  // of the server's name, which is resolved when the proxy is connected
        case .tlsFailed: .tls  // with the server
        default: phase == .dns ? .dns : .connect
        }
    }

    /// What a proxy says that may be different the next time, as it may be without a proxy.
    private static let serverUnreachable =
        "the proxy cannot reach the server; check that it runs, and the proxy's network"

    /// The error behind the failure of a SOCKS handshake.
    private static func socks(_ error: CURLproxycode) -> (Code, String) {
        switch error {
        case CURLPX_RESOLVE_HOST:
            (.dnsFailed, "the host's name cannot be resolved here; check it, or let the proxy do it (socks5h)")
        case CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_CONNECTION_REFUSED,
            CURLPX_REPLY_TTL_EXPIRED:
            (.proxyFailed, serverUnreachable)
        case CURLPX_BAD_ADDRESS_TYPE, CURLPX_BAD_VERSION, CURLPX_CLOSED, CURLPX_RECV_ADDRESS, CURLPX_RECV_AUTH,
            CURLPX_RECV_CONNECT, CURLPX_RECV_REQACK, CURLPX_SEND_AUTH, CURLPX_SEND_CONNECT, CURLPX_SEND_REQUEST,
            CURLPX_UNKNOWN_FAIL, CURLPX_UNKNOWN_MODE:
            (.proxyFailed, "the proxy closed the connection; does it speak what its URL says?")
        default: (.proxyRefused, "the proxy refuses; check its credentials, its rules, and that the server runs")
        }
    }

    /// The error behind a failure to receive, which may be one of several.
    private static func broken(_ report: CurlReport) -> (Code, String) {
        if report.text.contains("memory in chunk") {
            return (.headerTooLarge, "a trailer field of the answer is larger than libcurl takes")
        }
        if report.text.contains("chunk") { return (.invalidFraming, "the body's chunks are malformed") }
        if report.text.contains("headers") {
            return (.headerTooLarge, "the answer's head is larger than libcurl takes")
        }
        if report.isOfIdentity { return handshake(report) }
        return (.connectionReset, "the connection broke; try again")
    }

    private static func certificate(_ verdict: Int, of whom: String) -> (Code, String) {
        // By the numbers of OpenSSL (X509_STORE_CTX_get_error(3)). A wrong name is libcurl's own finding: it leaves 0,
        // or 1.
        switch verdict {
        case 10: (.certificateExpired, "the \(whom)'s certificate has expired; its owner must renew it")
        case 9: (.certificateNotYetValid, "the \(whom)'s certificate is not valid yet; check this machine's clock")
        case 18:
            (.certificateSelfSigned, "the \(whom)'s certificate is signed by itself; trust its authority by a file")
        case 26: (.certificateWrongPurpose, "the \(whom)'s certificate is not one for servers")
        case 0, 1, 62:
            (.certificateHostMismatch, "the \(whom)'s certificate is for another host; check the URL")
        default:
            (.certificateUntrusted, "the \(whom)'s certificate comes from no trusted authority; see `trust`")
        }
    }
}

extension CurlReport {
    /// Whether it was TLS that failed. (libcurl 7.88 reports that TCP is connected only when TLS is, too.)
    var isOfTLS: Bool {
        switch code {
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            true
        default: false
        }
    }

    /// Whether it was a proxy's answer to CONNECT.
    var isOfTunnel: Bool { text.contains("CONNECT tunnel failed") }
}
