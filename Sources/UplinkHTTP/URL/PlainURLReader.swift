// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Parses URLs that are plain and already in normal form, byte by byte, in one pass. Anything unusual or wrong is left
/// to ``HTTPURLParser``, which gives the same result for a plain URL and takes twenty times as long.
enum PlainURLReader {
    /// Returns the URL, or nil to leave it to the parser.
    static func read(_ text: String) -> HTTPURL? {
        text.utf8.withContiguousStorageIfAvailable { bytes in read(bytes, text) } ?? nil
    }

    private static func read(_ bytes: UnsafeBufferPointer<UInt8>, _ text: String) -> HTTPURL? {
        guard bytes.count <= HTTPURLParser.maximumLength else { return nil }
        let scheme: HTTPURL.Scheme
        let start: Int
        if begins(bytes, with: "http://") {
            (scheme, start) = (.http, 7)
        } else if begins(bytes, with: "https://") {
            (scheme, start) = (.https, 8)
        } else {
            return nil
        }
        guard let hostEnd = endOfHost(in: bytes, from: start) else { return nil }
        guard let (port, authorityEnd) = port(in: bytes, from: hostEnd) else { return nil }
        guard authorityEnd < bytes.count, bytes[authorityEnd] == UInt8(ascii: "/"),
            let pathEnd = endOfPath(in: bytes, from: authorityEnd)
        else { return nil }
        if pathEnd < bytes.count {
            for byte in bytes[(pathEnd + 1)...] where !isPlain(byte) { return nil }
        }
        let host = string(bytes[start..<hostEnd])
        guard port == scheme.defaultPort else {
            return HTTPURL(
                scheme: scheme, host: host, port: port ?? scheme.defaultPort, text: text, path: authorityEnd..<pathEnd)
        }
        // The default port is left out of the normal form.
        return HTTPURL(
            scheme: scheme, host: host, port: scheme.defaultPort, path: string(bytes[authorityEnd..<pathEnd]),
            query: pathEnd < bytes.count ? string(bytes[(pathEnd + 1)...]) : nil, fragment: nil)
    }

    private static func begins(_ bytes: UnsafeBufferPointer<UInt8>, with start: StaticString) -> Bool {
        guard let address = bytes.baseAddress, bytes.count >= start.utf8CodeUnitCount else { return false }
        return memcmp(address, start.utf8Start, start.utf8CodeUnitCount) == 0
    }

    /// Finds the end of the host: lower-case labels, the last of which does not begin with a digit, or four decimal
    /// numbers.
    private static func endOfHost(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var (place, label, dots, hasLetters) = (start, start, 0, false)
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"): hasLetters = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): break
            case UInt8(ascii: "."):
                guard (1...63).contains(place - label) else { return nil }
                label = place + 1
                dots += 1
            default:
                guard (1...63).contains(place - label), place - start <= 253 else { return nil }
                guard bytes[label].isDigit else { return place }
                return !hasLetters && dots == 3 && isIPv4(bytes[start..<place]) ? place : nil
            }
            place += 1
        }
        return nil
    }

    /// Whether these are four numbers up to 255 without leading zeros.
    private static func isIPv4(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var (number, digits) = (0, 0)
        for byte in bytes {
            if byte == UInt8(ascii: ".") {
                (number, digits) = (0, 0)
            } else {
                guard digits == 0 || number > 0 else { return false }
                number = number * 10 + Int(byte - UInt8(ascii: "0"))
                digits += 1
                guard number <= 255 else { return false }
            }
        }
        return true
    }

    /// Reads a port: digits after a colon, the first of which is not a zero, or nothing.
    private static func port(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> (port: UInt16?, end: Int)? {
        guard start < bytes.count, bytes[start] == UInt8(ascii: ":") else { return (nil, start) }
        var (place, number) = (start + 1, 0)
        if place < bytes.count, bytes[place] == UInt8(ascii: "0") { return nil }
        while place < bytes.count, bytes[place].isDigit {
            number = number * 10 + Int(bytes[place] - UInt8(ascii: "0"))
            guard number <= 65_535 else { return nil }
            place += 1
        }
        return number > 0 ? (UInt16(number), place) : nil
    }

    /// Finds the end of the path, at the query or the end; nil if a segment begins with a dot, or with what may stand
    /// for one.
    private static func endOfPath(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var place = start
        var previous: UInt8 = 0
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: "?") { return place }
            guard isPlain(byte), previous != UInt8(ascii: "/") || byte != UInt8(ascii: ".") else { return nil }
            previous = byte
            place += 1
        }
        return place
    }

    /// Whether a byte is unreserved, or one of the reserved characters that have no meaning for a URL parser (RFC 3986,
    /// section 2).
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
            true
        default: false
        }
    }

    private static func string(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self)
    }
}
