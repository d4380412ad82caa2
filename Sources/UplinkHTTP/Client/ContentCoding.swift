// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

/// Content codings (RFC 9110, section 8.4): none is asked for, so none is accepted, until they are decoded here.
enum ContentCoding {
    static func check(_ response: HTTPResponse, method: HTTPRequest.Method) throws(HTTPClientError) {
        guard method != .head, response.status != .noContent, response.status != .notModified else { return }
        let codings = response.headerFields[values: .contentEncoding]
            .flatMap { $0.split(separator: ",") }.map { $0.trimmingSpaces().lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
        guard !codings.isEmpty else { return }
        throw HTTPClientError(
            .unsupportedEncoding, phase: .body, requestDisposition: .responseStarted,
            message: "the body is encoded (\(codings.joined(separator: ", "))) though no coding was asked for; "
                + "leave `Accept-Encoding` out, or have the server send the plain body")
    }
}

extension Substring {
    /// Without the spaces and tabs of RFC 9110's OWS at both ends.
    func trimmingSpaces() -> Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return self[first...last]
    }
}
