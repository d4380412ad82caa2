// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkHTTP

/// Why a TLS handshake failed, by OpenSSL's text (see its `ssl/ssl_err.c`), because libcurl has one code for all.
private enum HandshakeFailure {
    /// The peer wants a certificate of the client, and got none.
    case certificateRequired
    /// The peer refuses the client's certificate or, as some servers say it, the lack of one.
    case certificateRefused
    /// The peer speaks no version that is new enough.
    case tooOld
    /// The peer does not speak TLS.
    case notTLS
    /// The connection broke.
    case broken
    /// Another reason.
    case other

    init(_ report: CurlReport) {
        func says(_ words: String...) -> Bool { words.contains { report.text.contains($0) } }
        self =
            if says("certificate required") {
                .certificateRequired
            } else if report.isOfIdentity {
                .certificateRefused
            } else if says("alert protocol version", "unsupported protocol", "version too low") {
                .tooOld
            } else if says("wrong version number", "packet length too long", "http request") {
                .notTLS
            } else if says(
                "Connection reset", "SSL_ERROR_SYSCALL", "SSL_ERROR_ZERO_RETURN", "unexpected eof", "Broken pipe")
            {
                .broken
            } else {
                .other
            }
    }
}

extension CurlFailure {
    static let certificateRequired: (Code, String) =
        (.clientCertificateRequired, "the server wants a certificate of the client; see `identity`")

    /// The error of the handshake with a server.
    static func handshake(_ report: CurlReport) -> (Code, String) {
        switch HandshakeFailure(report) {
        case .certificateRequired: certificateRequired
        case .certificateRefused:
            (.clientCertificateRefused, "the server refuses the client's certificate; check `identity`")
        case .tooOld: (.tlsVersionUnsupported, "the server speaks no version of TLS that is new enough")
        case .notTLS: (.notTLS, "the server does not speak TLS on this port; is the URL to begin with http?")
        case .broken: (.connectionReset, "the connection broke in the TLS handshake; try again")
        case .other: (.tlsFailed, "the TLS handshake failed; does the server want a certificate of the client?")
        }
    }

    /// The error of the handshake with a proxy; nil if the failure is another one.
    static func code(ofHandshakeWithProxy report: CurlReport) -> (Code, String)? {
        // An alert about a certificate may come when the request has gone out: see `isOfIdentity`.
        let isOfHandshake = report.code == CURLE_SSL_CONNECT_ERROR || report.code == CURLE_SSL_CIPHER
        guard isOfHandshake || report.isOfIdentity else { return nil }
        return switch HandshakeFailure(report) {
        case .certificateRequired, .certificateRefused:
            (.proxyRefused, "the proxy wants a certificate of the client, which no proxy is given; use another")
        case .tooOld: (.tlsVersionUnsupported, "the proxy speaks no version of TLS that is new enough")
        case .notTLS: (.notTLS, "the proxy does not speak TLS on this port; is its URL to begin with http?")
        case .broken: (.proxyFailed, "the connection broke in the TLS handshake with the proxy; try again")
        case .other: (.tlsFailed, "the TLS handshake with the proxy failed; check its certificate and versions of TLS")
        }
    }
}

extension CurlReport {
    /// Whether the server rejected the client's certificate, or the lack of one. With TLS 1.3 the client's handshake is
    /// over by then, and the alert comes instead of the answer.
    var isOfIdentity: Bool {
        [
            "certificate required", "alert bad certificate", "alert unknown ca", "alert certificate unknown",
            "alert certificate expired", "alert certificate revoked", "alert unsupported certificate",
            "alert access denied", "alert decrypt error",
        ].contains { text.contains($0) }
    }
}
