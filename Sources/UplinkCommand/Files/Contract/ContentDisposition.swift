// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// The field that names an uploaded file (RFC 6266), in the form that carries any name (RFC 8187).
enum ContentDisposition {
    /// `attachment;filename*=utf-8''…`, with every byte percent-encoded that could have a meaning, so that no name can
    /// break the field.
    static func attachment(named name: String) -> String {
        "attachment;filename*=utf-8''" + PercentEncoding.encode(name.utf8, keeping: isAttributeCharacter)
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
        byte.isAlphanumeric || "!#$&+-.^_`|~".utf8.contains(byte)
    }

    /// Reads `utf-8'en'%e2%82%ac`; the language is ignored.
    private static func extendedValue(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return PercentEncoding.decode(parts[2]).flatMap { String(validating: $0, as: UTF8.self) }
    }

    private static func isSpace(_ character: Unicode.Scalar) -> Bool { character == " " || character == "\t" }

    /// The parameters after the type, by lower-case name. Values may be tokens or quoted strings (RFC 9110, section
    /// 5.6.4), which may contain semicolons.
    private static func parameters(of field: String) -> [String: String] {
        var parameters: [String: String] = [:]
        var pieces: [String.UnicodeScalarView] = [.init()]
        var (isQuoted, isEscaped) = (false, false)
        for character in field.unicodeScalars {  // an accent after a quote does not make it another character
            switch character {
            case _ where isEscaped:
                isEscaped = false
                pieces[pieces.count - 1].append(character)
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case ";" where !isQuoted: pieces.append(.init())
            default: pieces[pieces.count - 1].append(character)
            }
        }
        for piece in pieces.dropFirst() {
            guard let equals = piece.firstIndex(of: "=") else { continue }
            let name = String(String.UnicodeScalarView(piece[..<equals].filter { !isSpace($0) })).lowercased()
            let value = piece[piece.index(after: equals)...].drop(while: isSpace)
            if parameters[name] == nil { parameters[name] = String(value) }
        }
        return parameters
    }
}
