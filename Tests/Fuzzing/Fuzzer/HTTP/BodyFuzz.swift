// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// Bytes that claim to be a body: however they are cut into pieces, the same comes of them, and no more than the limits
/// allow.
///
/// The first byte: `l` lines, `r` lines with repaired text, `g` gzip, `d` deflate, `s` bytes to be put into gzip and
/// taken out again. The second is the seed of the cuts.
enum BodyFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        guard let (letter, rest) = kind(of: bytes), let seed = rest.first else { return }
        let body = Array(rest.dropFirst())
        let pieces = pieces(of: body, seed: seed)
        switch letter {
        case "l", "r":
            let whole = lines([body], repairing: letter == "r")
            try expect(lines(pieces, repairing: letter == "r") == whole, "the cuts decide what a line is")
            let expected = whole.failure == nil ? repaired(body) : repaired(body).prefix(whole.lines.count).map(\.self)
            try expect(whole.lines == expected, "other lines than \(expected)")
        case "g", "d": try codings(letter == "g" ? .gzip : .deflate, body, pieces)
        case "s":
            let half = body.count / 2
            let packed = StoredGzip.file(Array(body[..<half])) + StoredGzip.file(Array(body[half...]))
            guard let result = Decoding(.gzip, Self.pieces(of: packed, seed: seed)) else { return }
            try expect(result.fault == nil && result.bytes == body, "\(body.count) bytes come back as others")
        default: return
        }
    }

    /// The body in pieces of 0 to 7, or of up to 2000 bytes.
    private static func pieces(of body: [UInt8], seed: UInt8) -> [[UInt8]] {
        var (pieces, place, state) = ([[UInt8]](), 0, UInt32(seed) | 1)
        while place < body.count {
            state = state &* 1_664_525 &+ 1_013_904_223
            let size = Int(state >> 24) % 8 * (seed & 1 == 0 ? 1 : 285)
            pieces.append(Array(body[place..<min(place + size, body.count)]))
            place += size
        }
        return pieces
    }

    // MARK: Lines

    private struct Lines: Equatable {
        var lines: [String] = []
        var failure: HTTPClientError.Code?
    }

    private static let maximumLength = 64

    private static func lines(_ pieces: [[UInt8]], repairing: Bool) -> Lines {
        var (splitter, result) = (LineSplitter(maximumLength: maximumLength, repairsText: repairing), Lines())
        do throws(HTTPClientError) {
            for piece in pieces {
                piece.withUnsafeBytes { splitter.append($0) }
                while let line = try splitter.next() { result.lines.append(line) }
            }
            if let line = try splitter.finish() { result.lines.append(line) }
        } catch {
            result.failure = error.code
        }
        return result
    }

    /// The lines by other means, without a limit.
    private static func repaired(_ body: [UInt8]) -> [String] {
        var lines = body.split(separator: 0x0A, omittingEmptySubsequences: false)
        let last = lines.removeLast()
        lines = lines.map { $0.last == 0x0D ? $0.dropLast() : $0 } + (last.isEmpty ? [] : [last])
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: Content codings

    private static func codings(_ coding: ContentCoding, _ body: [UInt8], _ pieces: [[UInt8]]) throws(Fault) {
        guard let whole = Decoding(coding, [body]), let cut = Decoding(coding, pieces) else { return }
        for result in [whole, cut] {
            try expect(result.largestChunk <= SlabPool.slabSize, "a chunk of \(result.largestChunk) bytes")
            try expect(
                result.bytes.count <= max(1 << 20, Decoding.maximumRatio * body.count) + SlabPool.slabSize,
                "\(body.count) bytes became \(result.bytes.count)")
        }
        // When the ratio is exceeded depends on when it is looked at; and a fault takes along what came with it.
        if whole.fault == nil, cut.fault == nil {
            try expect(whole.bytes == cut.bytes, "the cuts decide what is decoded")
        } else {
            let (short, long) = whole.bytes.count < cut.bytes.count ? (whole, cut) : (cut, whole)
            try expect(long.bytes.starts(with: short.bytes), "the cuts decide what is decoded before a fault")
            let isAboutRatio = whole.fault == .expandsTooMuch || cut.fault == .expandsTooMuch
            try expect(isAboutRatio || whole.fault == cut.fault, "the cuts decide whether it is damaged")
        }
    }
}

/// What came of decoding some pieces; nil without the trait `Compression`.
private struct Decoding {
    static let maximumRatio = 100

    private(set) var bytes: [UInt8] = []
    private(set) var largestChunk = 0
    private(set) var fault: DecodingFault?

    init?(_ coding: ContentCoding, _ pieces: [[UInt8]]) {
        guard let decoder = coding.decoder() else { return nil }
        var machine = DecodingMachine(decoder, maximumRatio: Self.maximumRatio)
        var rest = pieces[...]
        do throws(DecodingFault) {
            decoding: while true {
                switch try machine.step() {
                case .wantsInput: machine.take(rest.popFirst().map { HTTPBody.Chunk($0) })
                case .chunk(let chunk):
                    bytes += chunk.bytes
                    largestChunk = max(largestChunk, chunk.count)
                case .end: break decoding
                }
            }
        } catch {
            fault = error
        }
    }
}

/// gzip (RFC 1952) of stored blocks (RFC 1951, section 3.2.4), written without a library.
private enum StoredGzip {
    static func file(_ bytes: [UInt8]) -> [UInt8] {
        let length = UInt16(truncatingIfNeeded: bytes.count)  // an input is shorter
        var file: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1]
        for number in [length, ~length] { file += little(number) }
        file += bytes
        for number in [Checksum.crc32(bytes), UInt32(bytes.count)] { file += little(number) }
        return file
    }

    private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
