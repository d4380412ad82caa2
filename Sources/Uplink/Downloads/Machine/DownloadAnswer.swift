// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPTypes
import UplinkHTTP

/// What the machine needs of an answer's head.
struct DownloadAnswer: Sendable {
    /// Status and fields.
    var head: HTTPResponse
    /// The URL that answered, after all redirects.
    var url: String
    /// How many bytes the body has; nil if only its end will tell.
    var bodyLength: Int64?
    /// Whether the end of the body can be distinguished from a broken connection.
    var isFramed: Bool

    var status: Int { head.status.code }
    var validator: StrongValidator? { StrongValidator(of: head) }

    /// `Content-Range`, if there is a valid one.
    var range: ContentRange? {
        let values = head.headerFields[values: .contentRange]
        return values.count == 1 ? ContentRange(values[0]) : nil
    }

    /// Whether an answer that should be the whole says that it begins later or ends earlier. (`Content-Range` has no
    /// meaning there, RFC 9110, section 14.4, but there are servers that mean it.)
    var callsItselfPart: Bool {
        guard case .part(let first, _, let total) = range else { return false }
        return first > 0 || bodyLength ?? .max < total ?? 0
    }

    /// Whether the body has parts with heads of their own, which were not asked for.
    var isMultipart: Bool {
        head.headerFields[.contentType]?.lowercased().hasPrefix("multipart/byteranges") ?? false
    }

    /// Whether a part has the same content codings as what is there. It may leave them out (RFC 9110, section 15.3.7),
    /// and an entity tag then tells them apart, as does the size of the whole; a date does not.
    func isEncoded(like version: ResourceVersion) -> Bool {
        guard head.headerFields[.contentEncoding] == nil else {
            return ContentCoding.names(in: head) == version.codings
        }
        if version.codings.isEmpty { return true }
        if case .entityTag = version.validator { return true }
        guard case .part(_, _, let total?) = range else { return false }
        return total == version.length
    }

    /// How long the server asks clients to wait (RFC 9110, section 10.2.3).
    var retryAfter: Duration? { RetryAfter.pause(askedBy: head) { Int64(time(nil)) } }
}

extension DownloadAnswer {
    init(_ response: HTTPClientResponse) {
        head = response.head
        url = response.url
        switch response.body.framing {
        case .none: (bodyLength, isFramed) = (0, true)
        case .length(let length): (bodyLength, isFramed) = (length, true)
        case .chunked: (bodyLength, isFramed) = (nil, true)
        case .untilClose: (bodyLength, isFramed) = (nil, false)
        }
    }
}
