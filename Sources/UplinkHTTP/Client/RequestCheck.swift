// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// What must be true of a request before a byte of it is sent.
enum RequestCheck {
    /// Fields that describe the connection or the message, which are the transport's to send.
    private static let reserved: Set<String> = [
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
    ]

    static func check(_ request: HTTPRequest) throws(HTTPClientError) {
        guard request.method == .get || request.method == .head else {
            throw invalid("the method \(request.method.rawValue) is not supported yet; use GET or HEAD")
        }
        for field in request.headerFields {
            let name = field.name.rawName
            if reserved.contains(field.name.canonicalName) {
                throw invalid("the field `\(name)` is the transport's own; leave it out")
            }
            // HTTPTypes has made spaces of CR, LF and NUL by now. This is the second line.
            guard field.withUnsafeBytesOfValue({ $0.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 9 } }) else {
                throw invalid("the field `\(name)` contains a control character; remove it")
            }
        }
    }

    static func checkUserAgent(_ userAgent: String?) throws(HTTPClientError) {
        guard let userAgent, !HTTPField.isValidValue(userAgent) else { return }
        throw invalid("`userAgent` is no valid field value; remove line breaks, control characters and outer spaces")
    }

    private static func invalid(_ message: String) -> HTTPClientError {
        HTTPClientError(.invalidRequest, phase: .request, message: message)
    }
}
