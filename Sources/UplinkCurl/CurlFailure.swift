// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkEventLoop
import UplinkHTTP

/// What libcurl knows about a failure, as values.
struct CurlReport: Equatable {
    var code: CURLcode
    var text = ""
    var errno: CInt = 0
    /// OpenSSL's verdict on the certificate (`SSL_get_verify_result(3)`).
    var verifyResult = 0
    /// Whether the host's name has been resolved.
    var isResolved = false

    init(code: CURLcode, text: String = "") {
        self.code = code
        self.text = text
    }

    /// Asks the handle, which must not be gone yet.
    init(code: CURLcode, handle: EasyHandle) {
        self.init(code: code, text: handle.text)
        errno = CInt(truncatingIfNeeded: handle.long(CURLINFO_OS_ERRNO))
        verifyResult = handle.long(CURLINFO_SSL_VERIFYRESULT)
        isResolved = handle.offset(CURLINFO_NAMELOOKUP_TIME_T) > 0
    }

    /// Whether TLS is what failed. (That TCP stands, 7.88 tells only when TLS stands too.)
    var isOfTLS: Bool {
        switch code {
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE: true
        default: false
        }
    }
}

/// The names that failures get: pure.
enum CurlFailure {
    typealias Code = HTTPClientError.Code

    static let closed = HTTPClientError(
        .closed, phase: .queue, message: "the transport has been shut down; make a new one")

    static func noLoop(_ error: EventLoopError) -> HTTPClientError {
        HTTPClientError(
            .closed, phase: .queue, message: "\(error.message); a transport must be shut down before its loop ends")
    }

    static let loopEnded = HTTPClientError(
        .closed, phase: .body, requestDisposition: .maybeProcessed,
        message: "the transport's loop has ended; shut the transport down before its loop ends")

    static func queueFull(_ limit: Int) -> HTTPClientError {
        HTTPClientError(
            .queueFull, phase: .queue,
            message: "\(limit) transfers wait already; send fewer at once, or raise `maximumQueuedTransfers`")
    }

    static func engine(_ reason: String) -> HTTPClientError {
        HTTPClientError(
            .engine, phase: .request, requestDisposition: .maybeProcessed,
            message: "libcurl failed (\(reason)); this is a fault of Uplink or of libcurl, please report it")
    }

    /// A transfer that libcurl calls complete, without a head.
    static let noHead = HTTPClientError(
        .invalidResponse, phase: .firstByte, requestDisposition: .maybeProcessed,
        message: "the server ended its answer before the head was complete")

    static func truncated(received: Int64, expected: Int64?) -> HTTPClientError {
        let announced = expected.map { " of \($0)" } ?? ""
        var error = HTTPClientError(
            .truncated, phase: .body, requestDisposition: .responseStarted,
            message: "the connection ended after \(received)\(announced) bytes of the body; try again")
        error.receivedBytes = received
        error.expectedBytes = expected
        return error
    }

    /// How far a transfer was, from its machine and from libcurl.
    static func phase(_ phase: TransferMachine.Phase, _ report: CurlReport?) -> HTTPClientError.Phase {
        switch phase {
        case .queued: .queue
        case .gated: .dns
        case .connecting: report.map { $0.isOfTLS ? .tls : $0.isResolved ? .connect : .dns } ?? .connect
        case .awaitingHead: .firstByte
        case .bodyFlowing, .bodyPaused, .ended: .body
        }
    }

    /// The code for libcurl's error, and what to do.
    static func code(of report: CurlReport, in phase: HTTPClientError.Phase) -> (Code, String) {
        switch report.code {
        case CURLE_URL_MALFORMAT: (.invalidURL, "libcurl refuses the URL; check it")
        case CURLE_UNSUPPORTED_PROTOCOL:
            (.invalidResponse, "the server does not answer in HTTP/1; is it an HTTP server?")
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            (.dnsFailed, "the host's name cannot be resolved; check the name and the network's DNS")
        case CURLE_COULDNT_CONNECT:
            (.connectionFailed, "no connection to the server; check that it runs and that there is a way to it")
        case CURLE_OPERATION_TIMEDOUT:
            (.connectTimeout, "no connection in time; check that there is a way to the server")
        case CURLE_GOT_NOTHING: (.emptyReply, "the server closed the connection without an answer; try again")
        case CURLE_PARTIAL_FILE: (.truncated, "the body ended before its end; try again")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER:
            (.tlsFailed, "the TLS handshake failed; does the server speak TLS 1.2 or newer on this port?")
        case CURLE_PEER_FAILED_VERIFICATION: certificate(report)
        case CURLE_SSL_CACERT_BADFILE:
            (.invalidConfiguration, "the file of trusted authorities cannot be read; check `trust`")
        case CURLE_WEIRD_SERVER_REPLY:
            report.text.contains("Content-Length")
                ? (.invalidFraming, "Content-Length is not one number") : (.invalidResponse, "the head is malformed")
        case CURLE_OUT_OF_MEMORY where phase == .firstByte:
            (.headerTooLarge, "a line of the answer's head is larger than libcurl takes")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR: broken(report)
        case CURLE_SEND_FAIL_REWIND:
            (.bodyNotReplayable, "the connection broke, and the request's body cannot be produced again")
        default: (.engine, "libcurl failed in an unexpected way")
        }
    }

    /// Errors of receiving are several things in one.
    private static func broken(_ report: CurlReport) -> (Code, String) {
        if report.text.contains("chunk") { return (.invalidFraming, "the body's chunks are malformed") }
        if report.text.contains("headers") {
            return (.headerTooLarge, "the answer's head is larger than libcurl takes")
        }
        if report.text.contains("certificate required") {
            return (.tlsFailed, "the server wants a certificate of the client, which is not supported yet")
        }
        return (.connectionReset, "the connection broke; try again")
    }

    private static func certificate(_ report: CurlReport) -> (Code, String) {
        switch report.verifyResult {
        case 10: (.certificateExpired, "the server's certificate has expired; its owner must renew it")
        case 9: (.certificateNotYetValid, "the server's certificate is not valid yet; check this machine's clock")
        case 18, 19:
            (.certificateSelfSigned, "the server's certificate is signed by itself; trust its authority by a file")
        case 26: (.certificateWrongPurpose, "the server's certificate is not one for servers")
        case 0, 1, 62:
            (.certificateHostMismatch, "the server's certificate is for another host; check the URL")
        default:
            (.certificateUntrusted, "the server's certificate comes from no trusted authority; see `trust`")
        }
    }

    static func timeout(_ timeout: TransferMachine.Timeout, _ limits: HTTPTimeouts) -> (Code, String) {
        switch timeout {
        case .queue: (.queueTimeout, "no turn within \(text(limits.queue)); too many transfers at once")
        case .connect: (.connectTimeout, "no connection within \(text(limits.connect)); check the way to the server")
        case .firstByte: (.firstByteTimeout, "no answer within \(text(limits.firstByte)); the server may be overloaded")
        case .stall: (.stallTimeout, "no byte for \(text(limits.stall)); the connection may be broken")
        case .total: (.totalTimeout, "not finished within \(limits.total.map { "\($0)" } ?? "the reader's limit")")
        }
    }

    private static func text(_ limit: Duration?) -> String { limit.map { "\($0)" } ?? "the limit" }
}
