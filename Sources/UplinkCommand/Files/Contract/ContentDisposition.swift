// SPDX-License-Identifier: Apache-2.0

/// The field that names an uploaded file (RFC 6266), in the form that carries any name (RFC 8187).
enum ContentDisposition {
    /// `attachment;filename*=utf-8''…`, with every byte percent-encoded that could have a meaning, so that no name can
    /// break the field.
    static func attachment(named name: String) -> String {
        let digits = Array("0123456789ABCDEF")
        var encoded = ""
        for byte in name.utf8 {
            if isAttributeCharacter(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
        return "attachment;filename*=utf-8''\(encoded)"
    }

    /// The file name in a field: that of `filename*` if it has one, otherwise that of `filename`.
    ///
    /// Nil when there is none, or it is not UTF-8.
    static func fileName(in field: String) -> String? {
        let parameters = parameters(of: field)
        if let extended = parameters["filename*"] { return extendedValue(extended) }
        return parameters["filename"]
    }

    /// RFC 8187, section 3.2.1: `attr-char`.
    private static func isAttributeCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$&+-.^_`|~".utf8.contains(byte)
        }
    }

    /// Reads `utf-8'en'%e2%82%ac`; the language is ignored.
    private static func extendedValue(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        var bytes: [UInt8] = []
        var rest = Array(parts[2].utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let high = hexValue(rest.removeFirst()), let low = hexValue(rest.removeFirst())
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        Character(Unicode.Scalar(digit)).hexDigitValue.map { UInt8($0) }
    }

    /// The parameters after the type, by lower-case name. Values may be tokens or quoted strings (RFC 9110, section
    /// 5.6.4), which may contain semicolons.
    private static func parameters(of field: String) -> [String: String] {
        var parameters: [String: String] = [:]
        var pieces: [String] = [""]
        var (isQuoted, isEscaped) = (false, false)
        for character in field {
            switch character {
            case _ where isEscaped:
                isEscaped = false
                pieces[pieces.count - 1].append(character)
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case ";" where !isQuoted: pieces.append("")
            default: pieces[pieces.count - 1].append(character)
            }
        }
        for piece in pieces.dropFirst() {
            guard let equals = piece.firstIndex(of: "=") else { continue }
            let name = piece[..<equals].filter { $0 != " " && $0 != "\t" }.lowercased()
            let value = piece[piece.index(after: equals)...].trimmingPrefix { $0 == " " || $0 == "\t" }
            if parameters[name] == nil { parameters[name] = String(value) }
        }
        return parameters
    }
}
