// SPDX-License-Identifier: Apache-2.0
import Glibc
package import HTTPTypes

/// Parses the head of a response line by line, and its trailers after the body (RFC 9112): pure, and strict where a
/// lenient parser could be made to see a different message from the one the server sent.
package struct HeadParser: Sendable {
    /// What a line completed.
    package enum Event: Equatable {
        /// Nothing yet.
        case more
        /// An interim (1xx) response; the final one follows.
        case interim(HTTPResponse.Status)
        /// The final head: the body follows.
        case final(ReceivedHead)
        /// The end of the trailers, or of the input.
        case trailers
    }

    /// What the next line is expected to be.
    private enum Stage {
        /// A status line.
        case statusLine
        /// A line of a head that has so far been the same as the earlier one.
        case repetition
        /// A field of a head, or the empty line after it.
        case field
        /// A field after the body.
        case trailer
    }

    private let method: HTTPRequest.Method
    private let limits: HTTPLimits
    private var earlier = RememberedHead.none
    /// How far this head is the same as the earlier one: the position, and the number of fields.
    private var repeated = (place: 0, fields: 0)
    private var record = HeadRecord()
    private var stage = Stage.statusLine
    private var status = HTTPResponse.Status.ok
    private var fields = HTTPFields()
    private var bytes = 0
    private var interimResponses = 0
    /// Whether the newest head is an HTTP/1.0 head.
    package private(set) var isHTTP10 = false
    /// The fields that came after the body.
    package private(set) var trailerFields = HTTPFields()
    /// The final head, for the parser of a later one. Nil before it has been read, if it is the same as the earlier
    /// one, and if it is too long.
    package private(set) var remembered: RememberedHead?

    package init(method: HTTPRequest.Method, limits: HTTPLimits) {
        self.method = method
        self.limits = limits
    }

    /// Whether the next line is the first of a head.
    package var isAtStatusLine: Bool { stage == .statusLine }

    /// Whether anything of a response has been seen.
    package var hasBegun: Bool { !isAtStatusLine || interimResponses > 0 }

    /// Takes a line, with or without its line end.
    package mutating func take(
        line: some Collection<UInt8>, after known: RememberedHead = .none
    ) throws(HTTPClientError) -> Event {
        try Array(line).withUnsafeBytes { bytes in
            Result { () throws(HTTPClientError) in try take(line: bytes, after: known) }
        }.get()
    }

    /// Takes a line that continues as the earlier head did and is not its last. Most lines of most heads are like this.
    ///
    /// - Returns: Whether it is such a line, and within the limits. If not, pass it to ``take(line:after:)``.
    package mutating func repeats(_ line: UnsafeRawBufferPointer) -> Bool {
        guard stage == .repetition, bytes + line.count <= limits.headerBytes, repeated.fields < limits.headerFields,
            earlier.has(line, at: repeated.place), !earlier.ends(at: repeated.place + line.count)
        else { return false }
        bytes += line.count
        repeated = (repeated.place + line.count, repeated.fields + 1)
        return true
    }

    /// Takes a line, with or without its line end.
    ///
    /// - Parameter known: The newest head of the same server, which the head that begins here may repeat.
    package mutating func take(
        line: UnsafeRawBufferPointer, after known: @autoclosure () -> RememberedHead = .none
    ) throws(HTTPClientError) -> Event {
        if repeats(line) { return .more }
        bytes += line.count
        guard bytes <= limits.headerBytes else {
            throw Self.failure(
                .headerTooLarge, "the head of the answer exceeds \(limits.headerBytes) bytes; raise `headerBytes`")
        }
        switch stage {
        case .statusLine:
            earlier = known()
            // The head for another method may have had its end elsewhere.
            if earlier.method == method, earlier.has(line, at: 0) {
                isHTTP10 = earlier.head.isHTTP10
                (stage, repeated) = (.repetition, (line.count, 0))
                return .more
            }
            record.begin()
            record.add(line)
            try begin(line.withoutLineEnd)
            return .more
        case .repetition:
            guard earlier.has(line, at: repeated.place) else {
                diverge()
                return try take(fieldLine: line)
            }
            guard earlier.ends(at: repeated.place + line.count) else { throw tooManyFields }
            (stage, bytes) = (.trailer, 0)
            return .final(earlier.head)
        case .field: return try take(fieldLine: line)
        case .trailer:
            let line = line.withoutLineEnd
            guard line.isEmpty else {
                trailerFields.append(try field(line, after: trailerFields.count))
                return .more
            }
            return .trailers
        }
    }

    /// A field of a head, or the empty line after it.
    private mutating func take(fieldLine: UnsafeRawBufferPointer) throws(HTTPClientError) -> Event {
        record.add(fieldLine)
        let line = fieldLine.withoutLineEnd
        guard line.isEmpty else {
            fields.append(try field(line, after: fields.count))
            return .more
        }
        return try end()
    }

    /// `HTTP/1.1 200 OK`: version, three digits, any text (RFC 9112, section 4).
    private mutating func begin(_ line: UnsafeRawBufferPointer) throws(HTTPClientError) {
        isHTTP10 = line.begins(with: "HTTP/1.0 ")
        guard isHTTP10 || line.begins(with: "HTTP/1.1 ") else {
            throw Self.failure(.invalidResponse, "the server does not answer in HTTP/1; is it an HTTP server?")
        }
        let digits = line.dropFirst(9).prefix { $0 != 0x20 }
        guard digits.count == 3, digits.allSatisfy(\.isDigit), digits.first != UInt8(ascii: "0") else {
            throw Self.failure(.invalidResponse, "the server's status is not three digits from 100")
        }
        let code = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        let reason = UnsafeRawBufferPointer(rebasing: line.dropFirst(13))
        (stage, status) = (.field, .init(code: code, reasonPhrase: String(decoding: reason, as: UTF8.self)))
        fields = HTTPFields()
        fields.reserveCapacity(min(8, limits.headerFields))
    }

    /// Parses a field of a head or of the trailers, of which `count` have been read.
    private func field(_ line: UnsafeRawBufferPointer, after count: Int) throws(HTTPClientError) -> HTTPField {
        try checkCount(count)
        guard line.first != 0x20, line.first != 0x09 else {
            throw Self.failure(.invalidFraming, "a field of the answer is folded over lines, which is forbidden")
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = UsualNames.name(UnsafeRawBufferPointer(rebasing: line[..<colon]))
        else {
            throw Self.failure(.invalidFraming, "a field of the answer has no valid name; a space before the colon?")
        }
        let value = line.withoutSpaces(from: colon + 1)
        // Printable ASCII, as nearly every value is, can become a string directly.
        if value.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
            return HTTPField(name: name, value: String(decoding: value, as: UTF8.self))
        }
        guard value.allSatisfy({ $0 != 0 && $0 != 0x0D && $0 != 0x0A }) else {
            throw Self.failure(.invalidResponse, "a field of the answer contains a control character")
        }
        return HTTPField(name: name, lenientValue: value)
    }

    private mutating func end() throws(HTTPClientError) -> Event {
        guard status.code != 101 else {
            throw Self.failure(.unexpectedUpgrade, "the server switched protocols, which nobody asked for")
        }
        bytes = 0
        if status.code < 200 {
            interimResponses += 1
            stage = .statusLine
            guard interimResponses <= limits.interimResponses else {
                throw Self.failure(
                    .tooManyInterimResponses,
                    "more than \(limits.interimResponses) interim answers (1xx); raise `interimResponses`")
            }
            return .interim(status)
        }
        let framing = try Framing(of: fields, status: status.code, method: method, isHTTP10: isHTTP10)
        let head = ReceivedHead(status, fields, framing, isHTTP10: isHTTP10)
        remembered = record.take().map { RememberedHead($0, method: method, read: head) }
        stage = .trailer
        return .final(head)
    }

    /// The head continues differently from the earlier one.
    private mutating func diverge() {
        record.begin(with: earlier.text(upTo: repeated.place))
        fields = HTTPFields(earlier.head.response.headerFields.prefix(repeated.fields))
        (stage, status) = (.field, earlier.head.status)
    }

    /// Refuses a field beyond the limit.
    private func checkCount(_ count: Int) throws(HTTPClientError) {
        guard count < limits.headerFields else { throw tooManyFields }
    }

    private var tooManyFields: HTTPClientError {
        Self.failure(.headerTooLarge, "the answer has more than \(limits.headerFields) fields; raise `headerFields`")
    }

    static func failure(_ code: HTTPClientError.Code, _ message: String) -> HTTPClientError {
        HTTPClientError(code, phase: .firstByte, requestDisposition: .responseStarted, message: message)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func begins(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount, let baseAddress else { return false }
        return memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    fileprivate var withoutLineEnd: Self {
        var end = count
        if end > 0, self[end - 1] == 0x0A { end -= 1 }
        if end > 0, self[end - 1] == 0x0D { end -= 1 }
        return Self(rebasing: self[..<end])
    }

    /// The bytes from a position to the end, without the spaces and tabs (RFC 9110's OWS) around them.
    fileprivate func withoutSpaces(from start: Int) -> Self {
        var (start, end) = (start, count)
        while start < end, self[start] == 0x20 || self[start] == 0x09 { start += 1 }
        while end > start, self[end - 1] == 0x20 || self[end - 1] == 0x09 { end -= 1 }
        return Self(rebasing: self[start..<end])
    }
}
