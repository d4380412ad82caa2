// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkHTTP

/// Bytes that claim to be the head of an answer and its trailers: what is accepted keeps the rules of RFC 9112, stays
/// within the limits, and is read as the same again when it is written anew.
///
/// The first byte: `g` for the answer to a GET, `h` to a HEAD; in upper case with small limits.
enum HeadFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        guard let (letter, rest) = kind(of: bytes) else { return }
        let method: HTTPRequest.Method = letter.lowercased() == "h" ? .head : .get
        var limits = HTTPLimits()
        if letter.isUppercase { (limits.headerBytes, limits.headerFields, limits.interimResponses) = (256, 4, 2) }
        let lines = rest.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) + [0x0A] }
        let reading = Reading(lines, method: method, limits: limits)

        try expect(reading.interim.count <= limits.interimResponses, "interim answers beyond the limit")
        try expect(reading.trailers.count <= limits.headerFields, "trailers beyond the limit")
        let mayBeTooLarge = letter.isUppercase || rest.count > limits.headerFields
        try expect(reading.failure != .headerTooLarge || mayBeTooLarge, "too large for nothing")
        let bare = lines.map { $0.dropLast($0.dropLast().last == 0x0D ? 2 : 1) }
        if rest.count < limits.headerBytes, !bare.contains(where: { $0.last == 0x0D }) {
            let again = Reading(bare.map { Array($0) }, method: method, limits: limits)
            // Line ends count as well, so only a limit may tell.
            try expect(letter.isUppercase || again == reading, "line ends make a difference")
        }
        for other in [lines, lines.prefix(2) + [Array("A: b\n".utf8)] + lines.dropFirst(3), lines + lines] {
            let earlier = remembered(other, method: method) ?? .none
            let again = Reading(lines, method: method, limits: limits, after: earlier)
            try expect(again == reading, "read otherwise after a head that begins in the same way")
        }
        guard let (head, framing) = reading.final else { return }
        try check(head, framing, method, isHTTP10: reading.isHTTP10, limits)
        let copy = Reading(written(head, isHTTP10: reading.isHTTP10), method: method, limits: HTTPLimits())
        try expect(copy.final?.head == head && copy.final?.framing == framing, "read otherwise when written anew")
    }

    /// What is known of a head once it has been read, if it can be.
    private static func remembered(_ lines: some Sequence<[UInt8]>, method: HTTPRequest.Method) -> RememberedHead? {
        var parser = HeadParser(method: method, limits: HTTPLimits())
        for line in lines {
            guard (try? parser.take(line: line)) != nil, parser.remembered == nil else { break }
        }
        return parser.remembered
    }

    private static func check(
        _ head: HTTPResponse, _ framing: Framing, _ method: HTTPRequest.Method, isHTTP10: Bool, _ limits: HTTPLimits
    ) throws(Fault) {
        let (status, fields) = (head.status.code, head.headerFields)
        try expect((200...999).contains(status), "a final answer with the status \(status)")
        try expect(fields.count <= limits.headerFields, "fields beyond the limit")
        for field in fields {
            let isClean = !field.value.unicodeScalars.contains { $0 == "\0" || $0 == "\r" || $0 == "\n" }
            try expect(isClean, "a control character in \(field.name)")
        }
        let hasBody = method != .head && status != 204 && status != 304
        switch framing.kind {
        case .none: try expect(!hasBody, "no body where there is one")
        case .length(let length):
            try expect(hasBody && length >= 0 && framing.contentLength == length, "a body of \(length)")
            try expect(fields[values: .transferEncoding].allSatisfy(\.isEmptyList), "two framings")
        case .chunked:
            let codings = fields[values: .transferEncoding].joined(separator: ",").lowercased()
            try expect(hasBody && !isHTTP10 && framing.contentLength == nil, "chunks beside a length, or in HTTP/1.0")
            try expect(codings.contains("chunked"), "chunks from \(codings)")
        case .untilClose: try expect(hasBody && framing.contentLength == nil, "a length that is not kept to")
        }
        for now in [0, 1_767_225_600] as [Int64] {
            let pause = RetryAfter.pause(askedBy: head) { now }
            try expect(pause ?? .zero >= .zero, "a pause into the past")
        }
    }

    /// The lines of a head that says the same.
    private static func written(_ head: HTTPResponse, isHTTP10: Bool) -> [[UInt8]] {
        let version = isHTTP10 ? "HTTP/1.0" : "HTTP/1.1"
        let status = Array("\(version) \(head.status.code) \(head.status.reasonPhrase)\r\n".utf8)
        let fields = head.headerFields.map { field in
            Array("\(field.name.rawName): ".utf8) + field.withUnsafeBytesOfValue { Array($0) } + Array("\r\n".utf8)
        }
        return [status] + fields + [Array("\r\n".utf8)]
    }
}

/// What came of some lines.
private struct Reading: Equatable {
    struct Final: Equatable {
        let head: HTTPResponse
        let framing: Framing
    }

    private(set) var interim: [HTTPResponse.Status] = []
    private(set) var isHTTP10 = false
    private(set) var trailers = HTTPFields()
    private(set) var failure: HTTPClientError.Code?
    private var answer: Final?

    var final: (head: HTTPResponse, framing: Framing)? { answer.map { ($0.head, $0.framing) } }

    init(_ lines: [[UInt8]], method: HTTPRequest.Method, limits: HTTPLimits, after earlier: RememberedHead = .none) {
        var parser = HeadParser(method: method, limits: limits)
        do throws(HTTPClientError) {
            reading: for line in lines {
                switch try parser.take(line: line, after: earlier) {
                case .more: break
                case .interim(let status): interim.append(status)
                case .final(let head): answer = Final(head: head.response, framing: head.framing)
                case .trailers: break reading
                }
            }
        } catch {
            failure = error.code
        }
        isHTTP10 = parser.isHTTP10
        trailers = parser.trailerFields
    }
}

extension String {
    /// Whether it is a list without elements (RFC 9110, section 5.6.1).
    fileprivate var isEmptyList: Bool { allSatisfy { " \t,".contains($0) } }
}
