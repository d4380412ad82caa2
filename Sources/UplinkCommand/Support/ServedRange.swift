// SPDX-License-Identifier: Apache-2.0
import FlyingFox

/// Which bytes of a file answer a request: all of them, or those from an offset on if the client has the same file (RFC
/// 9110, sections 13.1.5 and 14).
enum ServedRange: Sendable, Hashable {
    /// All bytes: 200.
    case whole
    /// The bytes from this offset to the end: 206.
    case rest(from: Int)
    /// None, because the request begins beyond the end: 416.
    case beyondEnd

    /// - Parameters:
    ///   - tag: The tag that distinguishes this version of the file from others, with its quotes.
    ///   - size: How many bytes the file has.
    init(of request: HTTPRequest, tag: String, size: Int) {
        let isSame = request.headers[HTTPHeader("If-Range")].map { $0 == tag } ?? true
        // A range has a meaning for GET alone (RFC 9110, section 14.2).
        guard isSame, request.method == .GET, let first = request.headers[.range].flatMap(Self.first) else {
            self = .whole
            return
        }
        self = first < size ? .rest(from: first) : .beyondEnd
    }

    /// The first byte's offset; nil if there is none.
    var start: Int? {
        switch self {
        case .whole: 0
        case .rest(let first): first
        case .beyondEnd: nil
        }
    }

    /// The status and the fields of the answer.
    func head(tag: String, size: Int) -> (status: HTTPStatusCode, headers: HTTPHeaders) {
        var headers = HTTPHeaders([.acceptRanges: "bytes", .eTag: tag])
        switch self {
        case .whole: return (.ok, headers)
        case .rest(let first):
            headers[.contentRange] = "bytes \(first)-\(size - 1)/\(size)"
            return (.partialContent, headers)
        case .beyondEnd:
            headers[.contentRange] = "bytes */\(size)"
            return (.rangeNotSatisfiable, headers)
        }
    }

    /// The offset of `bytes=OFFSET-`; nil for other ranges, which a server may ignore.
    private static func first(of range: String) -> Int? {
        guard range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
        return Int(range.dropFirst(6).dropLast()).flatMap { $0 >= 0 ? $0 : nil }
    }
}
