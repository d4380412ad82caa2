// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The parts of a form and the text between them (RFC 7578, RFC 2046 section 5.1.1).
struct MultipartForm: Sendable {
    let boundary: String
    private let parts: [HTTPFormPart]

    init(_ parts: [HTTPFormPart], boundary: () -> String = Self.randomBoundary) {
        self.parts = parts
        var candidate = boundary()
        while parts.contains(where: { Self.contains($0.body, candidate) }) { candidate = boundary() }
        self.boundary = candidate
    }

    /// 128 random bits, so that it does not occur in contents that cannot be searched either.
    private static func randomBoundary() -> String {
        let bits = (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return "uplink-" + bits.joined()
    }

    private static func contains(_ body: HTTPRequestBody, _ boundary: String) -> Bool {
        guard case .bytes(let bytes) = body.content else { return false }
        return contains(bytes, Array(boundary.utf8))
    }

    private static func contains(_ bytes: [UInt8], _ pattern: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, let first = pattern.first else { return false }
            var place = 0
            while bytes.count - place >= pattern.count,
                let found = memchr(start + place, CInt(first), bytes.count - place - pattern.count + 1)
            {
                if memcmp(found, pattern, pattern.count) == 0 { return true }
                place = UnsafeRawPointer(found) - start + 1
            }
            return false
        }
    }

    var stream: BodyStream {
        BodyStream(
            length: Self.sum(parts.map(\.body.knownLength), framing: framing),
            isReplayable: parts.allSatisfy(\.body.isReplayable),
            isSpent: { [parts] in parts.contains(where: \.body.isSpent) },
            prepare: { try await self.prepare($0) })
    }

    private func prepare(_ work: any BlockingWork) async throws -> BodyProduction {
        var bodies: [PreparedBody] = []
        for part in parts {
            try part.body.check()
            bodies.append(try await part.body.prepare(blocking: work))
        }
        let runsForeignCode = bodies.contains { body in
            guard case .production(let production) = body.content else { return false }
            return production.runsForeignCode
        }
        let lengths = bodies.map { $0.content.isNone ? 0 : $0.length }
        return BodyProduction(
            length: Self.sum(lengths, framing: framing), runsForeignCode: runsForeignCode
        ) { [bodies] sink in
            for (index, body) in bodies.enumerated() {
                try await sink.bytes(Array(head(of: index).utf8))
                switch body.content {
                case .none: break
                case .bytes(let bytes): try await sink.bytes(bytes)
                case .production(let production): try await Self.run(production, into: sink)
                }
            }
            try await sink.bytes(Array(end.utf8))
        }
    }

    /// Runs a part's production, whose length is checked separately: a byte missing from one part must not be taken
    /// from another.
    private static func run(_ production: BodyProduction, into sink: BodySink) async throws {
        let counter = ByteCounter()
        try await production.run(
            BodySink(isClosed: sink.isClosed) { chunk in
                let count = counter.add(chunk.count)
                if let length = production.length, count > length { throw BodyLength.exceeded(length) }
                try await sink(chunk)
            })
        try BodyLength.check(counter.add(0), against: production.length)
    }

    // MARK: The text between the parts

    /// The number of bytes of everything but the parts' contents.
    private var framing: Int64 { parts.indices.reduce(Int64(end.utf8.count)) { $0 + Int64(head(of: $1).utf8.count) } }

    private var end: String { parts.isEmpty ? "--\(boundary)--\r\n" : "\r\n--\(boundary)--\r\n" }

    private func head(of index: Int) -> String {
        let part = parts[index]
        var head = "\(index == 0 ? "" : "\r\n")--\(boundary)\r\n"
        head += "Content-Disposition: form-data; name=\"\(Self.quoted(part.name))\""
        if let filename = part.filename { head += "; filename=\"\(Self.quoted(filename))\"" }
        if let contentType = part.body.contentType { head += "\r\nContent-Type: \(contentType)" }
        return head + "\r\n\r\n"
    }

    /// A name as browsers write it (HTML, "multipart/form-data encoding algorithm"): in UTF-8, with percent-encoding
    /// for characters that would end the name or the line.
    private static func quoted(_ name: String) -> String {
        name.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\"": text += "%22"
            case "\r": text += "%0D"
            case "\n": text += "%0A"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    private static func sum(_ lengths: [Int64?], framing: Int64) -> Int64? {
        lengths.reduce(framing) { sum, length in
            guard let sum, let length else { return nil }
            let (result, overflow) = sum.addingReportingOverflow(length)
            return overflow ? nil : result
        }
    }
}

extension HTTPRequestBody {
    /// The length as part of a form, in which no body is an empty one.
    fileprivate var knownLength: Int64? { isNone ? 0 : length }

    /// Checks the body itself, before anything of it is sent.
    func check() throws(HTTPClientError) {
        if let contentType, !FieldText.isValue(contentType) {
            throw HTTPClientError(
                .invalidRequest, phase: .request,
                message: "the body's `contentType` is no field value; remove line breaks and control characters")
        }
        if let length, length < 0 {
            throw HTTPClientError(
                .invalidRequest, phase: .request, message: "the body's length is \(length); give zero or more, or nil")
        }
    }
}

extension PreparedBody.Content {
    fileprivate var isNone: Bool {
        switch self {
        case .none: true
        case .bytes, .production: false
        }
    }
}
