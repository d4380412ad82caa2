// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

/// The checks that a request must pass before a byte of it is sent.
package enum RequestCheck {
    /// Fields that describe the connection or the message; only the transport may send them.
    private static let reserved: Set<String> = [
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
    ]

    package static func check(
        _ method: HTTPRequest.Method, _ fields: HTTPFields, _ body: HTTPRequestBody
    ) throws(HTTPClientError) {
        try check(method, body)
        try body.check()
        guard !body.isSpent else { throw BodyStream.spent }
        for field in fields {
            let name = field.name.rawName
            if reserved.contains(field.name.canonicalName) {
                throw invalid("the field `\(name)` is the transport's own; leave it out")
            }
            // HTTPTypes has already turned CR, LF and NUL into spaces. This is the second line of defence.
            guard field.withUnsafeBytesOfValue({ $0.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 9 } }) else {
                throw invalid("the field `\(name)` contains a control character; remove it")
            }
        }
    }

    /// Any method but CONNECT (RFC 9110, section 9). The caller decides whether there is a body, even with GET, except
    /// where the RFC allows none.
    private static func check(_ method: HTTPRequest.Method, _ body: HTTPRequestBody) throws(HTTPClientError) {
        switch method {
        case .get, .post, .put, .patch, .delete, .options: break
        case .connect:
            throw invalid("CONNECT asks a proxy for a tunnel and no server for an answer; it cannot be sent")
        case .trace where !body.isNone: throw invalid("TRACE has no body (RFC 9110, section 9.3.8); leave it out")
        case .head where !body.isNone: throw invalid("HEAD is sent without a body; leave it out, or use another method")
        case .trace, .head: break
        case _ where FieldText.isToken(method.rawValue): break
        default: throw invalid("the method is no token; give a name such as `GET` or `PROPFIND`")
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

extension HTTPRequest.Method {
    /// Whether sending it twice has the same effect as sending it once (RFC 9110, section 9.2.2).
    package var isIdempotent: Bool {
        switch self {
        case .get, .head, .options, .trace, .put, .delete: true
        default: false
        }
    }
}
