// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkHTTP

/// What distinguishes one version of a resource from every other, so that parts of it may be combined (RFC 9110,
/// section 8.8.1).
enum StrongValidator: Sendable, Hashable {
    /// `ETag`, with its quotes; never a weak one, and nothing but ASCII: other bytes need not be UTF-8, and texts of
    /// different bytes may count as equal.
    case entityTag(String)
    /// `Last-Modified`, verbatim.
    case lastModified(String)

    /// Reads the validator of an answer; nil if it has no strong one, so that no later run can go on with what came.
    ///
    /// A date counts only where there is no entity tag at all (section 13.1.5).
    init?(of head: HTTPResponse) {
        let tags = head.headerFields[values: .eTag]
        if !tags.isEmpty {
            guard let tag = tags.first, tags.count == 1, Self.isStrong(tag) else { return nil }
            self = .entityTag(tag)
            return
        }
        guard let date = LastModified.strong(in: head.headerFields) else { return nil }
        self = .lastModified(date)
    }

    /// The value for `If-Range`.
    var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    /// Whether an answer is about the same version. One without a validator is not, because a server that overlooks
    /// `If-Range` could send a part of another version; but the server need not repeat a date that the request had (RFC
    /// 9110, section 15.3.7).
    func isConfirmed(by head: HTTPResponse) -> Bool {
        switch self {
        case .entityTag(let tag): head.headerFields[values: .eTag].map { Array($0.utf8) } == [Array(tag.utf8)]
        case .lastModified(let date):
            head.headerFields[values: .lastModified].allSatisfy { $0.utf8.elementsEqual(date.utf8) }
                && head.headerFields[.eTag] == nil
        }
    }

    /// `DQUOTE *etagc DQUOTE` (section 8.8.3), without `obs-text`.
    static func isStrong(_ tag: String) -> Bool {
        let bytes = tag.utf8
        guard bytes.count >= 2, bytes.first == 0x22, bytes.last == 0x22 else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || (0x23...0x7E).contains($0) }
    }
}
