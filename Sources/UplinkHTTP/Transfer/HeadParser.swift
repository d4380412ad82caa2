// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

/// Reads the head of an answer line by line, and its trailers after the body (RFC 9112): pure, and strict where a
/// lenient reader can be made to see another message than the server sent.
package struct HeadParser: Sendable {
    /// What a line completed.
    package enum Event: Equatable {
        /// Nothing yet.
        case more
        /// An interim (1xx) answer; the real one follows.
        case interim(HTTPResponse.Status)
        /// The final head: the body follows.
        case final(HTTPResponse, Framing)
        /// The trailers' end, or the end of what there is.
        case trailers
    }

    /// What the next line is.
    private enum Stage: Equatable {
        /// A status line.
        case statusLine
        /// A field of a head, or the empty line after it.
        case field(status: Int, reason: String, isHTTP10: Bool)
        /// A field after the body.
        case trailer
    }

    private let method: HTTPRequest.Method
    private let limits: HTTPLimits
    private var stage = Stage.statusLine
    private var fields = HTTPFields()
    private var bytes = 0
    private var interimResponses = 0
    /// The fields that came after the body.
    package private(set) var trailerFields = HTTPFields()

    package init(method: HTTPRequest.Method, limits: HTTPLimits) {
        self.method = method
        self.limits = limits
    }

    /// Whether the next line is the first of a head.
    package var isAtStatusLine: Bool { stage == .statusLine }

    /// Whether anything of an answer has been seen.
    package var hasBegun: Bool { stage != .statusLine || interimResponses > 0 }

    /// Takes a line, with or without its line end.
    package mutating func take(line: some BidirectionalCollection<UInt8>) throws(HTTPClientError) -> Event {
        bytes += line.count
        guard bytes <= limits.headerBytes else {
            throw Self.failure(
                .headerTooLarge, "the head of the answer exceeds \(limits.headerBytes) bytes; raise `headerBytes`")
        }
        var line = Array(line)
        if line.last == 0x0A { line.removeLast() }
        if line.last == 0x0D { line.removeLast() }
        switch stage {
        case .statusLine:
            try begin(line)
            return .more
        case .field(let status, let reason, let isHTTP10):
            guard line.isEmpty else {
                try add(line, to: \.fields)
                return .more
            }
            return try end(status: status, reason: reason, isHTTP10: isHTTP10)
        case .trailer:
            guard line.isEmpty else {
                try add(line, to: \.trailerFields)
                return .more
            }
            return .trailers
        }
    }

    /// `HTTP/1.1 200 OK`: version, three digits, any words (RFC 9112, section 4).
    private mutating func begin(_ line: [UInt8]) throws(HTTPClientError) {
        let text = String(decoding: line, as: UTF8.self)
        let isHTTP10 = text.hasPrefix("HTTP/1.0 ")
        guard isHTTP10 || text.hasPrefix("HTTP/1.1 ") else {
            throw Self.failure(.invalidResponse, "the server does not answer in HTTP/1; is it an HTTP server?")
        }
        let digits = line.dropFirst(9).prefix { $0 != 0x20 }
        guard digits.count == 3, digits.allSatisfy(\.isDigit), digits.first != UInt8(ascii: "0"),
            let status = Int(String(decoding: digits, as: UTF8.self))
        else { throw Self.failure(.invalidResponse, "the server's status is not three digits from 100") }
        stage = .field(
            status: status, reason: String(decoding: line.dropFirst(13), as: UTF8.self), isHTTP10: isHTTP10)
        fields = HTTPFields()
    }

    private mutating func add(
        _ line: [UInt8], to fields: WritableKeyPath<Self, HTTPFields>
    ) throws(HTTPClientError) {
        guard self[keyPath: fields].count < limits.headerFields else {
            throw Self.failure(
                .headerTooLarge, "the answer has more than \(limits.headerFields) fields; raise `headerFields`")
        }
        guard line.first != 0x20, line.first != 0x09 else {
            throw Self.failure(.invalidFraming, "a field of the answer is folded over lines, which is forbidden")
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        else {
            throw Self.failure(.invalidFraming, "a field of the answer has no valid name; a space before the colon?")
        }
        let value = line[(colon + 1)...].trimmingSpaces()
        guard value.allSatisfy({ $0 != 0 && $0 != 0x0D && $0 != 0x0A }) else {
            throw Self.failure(.invalidResponse, "a field of the answer contains a control character")
        }
        self[keyPath: fields].append(HTTPField(name: name, lenientValue: value))
    }

    private mutating func end(status: Int, reason: String, isHTTP10: Bool) throws(HTTPClientError) -> Event {
        guard status != 101 else {
            throw Self.failure(.unexpectedUpgrade, "the server switched protocols, which nobody asked for")
        }
        bytes = 0
        if status < 200 {
            interimResponses += 1
            stage = .statusLine
            guard interimResponses <= limits.interimResponses else {
                throw Self.failure(
                    .tooManyInterimResponses,
                    "more than \(limits.interimResponses) interim answers (1xx); raise `interimResponses`")
            }
            return .interim(.init(code: status, reasonPhrase: reason))
        }
        stage = .trailer
        let framing = try Framing(of: fields, status: status, method: method, isHTTP10: isHTTP10)
        return .final(HTTPResponse(status: .init(code: status, reasonPhrase: reason), headerFields: fields), framing)
    }

    static func failure(_ code: HTTPClientError.Code, _ message: String) -> HTTPClientError {
        HTTPClientError(code, phase: .firstByte, requestDisposition: .responseStarted, message: message)
    }
}

extension ArraySlice<UInt8> {
    /// Without the spaces and tabs of RFC 9110's OWS at both ends.
    fileprivate func trimmingSpaces() -> Self {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return []
        }
        return self[first...last]
    }
}
