// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

/// How a body's end is found (RFC 9112, section 6.3). Refuses heads about which two readers might disagree.
package struct Framing: Sendable, Equatable {
    package let kind: HTTPBody.Framing
    /// The value of `Content-Length`, whether a body follows or not.
    package let contentLength: Int64?
    /// Whether the body may have to be decoded.
    let hasContentCoding: Bool

    init(kind: HTTPBody.Framing, contentLength: Int64?) {
        (self.kind, self.contentLength, hasContentCoding) = (kind, contentLength, false)
    }

    package init(
        of fields: HTTPFields, status: Int, method: HTTPRequest.Method, isHTTP10: Bool
    ) throws(HTTPClientError) {
        contentLength = try Self.length(in: fields)
        hasContentCoding = fields.contains(.contentEncoding)
        guard fields.contains(.transferEncoding) else {
            kind = Self.kind(withoutCodings: contentLength, status: status, method: method)
            return
        }
        let codings = fields[values: .transferEncoding]
            .flatMap { $0.split(separator: ",") }.map { $0.trimmingSpaces().lowercased() }
        if method != .head, status != 204, status != 304 {
            guard contentLength == nil, !isHTTP10 else {
                throw HeadParser.failure(
                    .invalidFraming, "Transfer-Encoding stands beside Content-Length, or in HTTP/1.0: contradictory")
            }
            guard codings == ["chunked"] else {
                let found = HTTPFields.printable(codings.joined(separator: ", "))
                throw HeadParser.failure(
                    .invalidFraming, "Transfer-Encoding is `\(found)`, not `chunked` alone")
            }
            kind = .chunked
        } else {
            kind = Self.kind(withoutCodings: contentLength, status: status, method: method)
        }
    }

    private static func kind(
        withoutCodings length: Int64?, status: Int, method: HTTPRequest.Method
    ) -> HTTPBody.Framing {
        if method == .head || status == 204 || status == 304 { return .none }
        return length.map { .length($0) } ?? .untilClose
    }

    private static func length(in fields: HTTPFields) throws(HTTPClientError) -> Int64? {
        var (first, count): (String?, Int) = (nil, 0)
        for field in fields where field.name == .contentLength { (first, count) = (field.value, count + 1) }
        guard let first else { return nil }
        if count == 1, first.utf8.allSatisfy(\.isDigit), let length = Int64(first) { return length }
        let values = Set(
            fields[values: .contentLength].flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
                .map { $0.trimmingSpaces() })
        guard let value = values.first else { return nil }
        guard values.count == 1, !value.isEmpty, value.utf8.allSatisfy(\.isDigit), let length = Int64(value) else {
            let found = HTTPFields.printable(values.sorted().joined(separator: "`, `"))
            throw HeadParser.failure(.invalidFraming, "Content-Length is `\(found)`, not one number")
        }
        return length
    }
}
