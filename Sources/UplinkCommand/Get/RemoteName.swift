// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The name that a URL gives a file: the last part of its path, percent-decoded (RFC 3986, section 2.1).
///
/// The server has no say in it, because it may be a stranger: redirects and `Content-Disposition` are ignored.
enum RemoteName {
    /// The name.
    ///
    /// - Parameter target: A request's target: path and query.
    /// - Throws: `ValidationError` when it is not the name of a file in the directory where it belongs.
    static func name(ofTarget target: String) throws -> String {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let name = decoded(last), isHarmless(name) else {
            throw ValidationError("the URL's path ends in no name for a file (`\(last)`); name the file with --output")
        }
        return name
    }

    /// The text decoded; nil if that is not UTF-8, or there is a `%` without two digits.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            guard digits.count == 2 else { return nil }
            bytes.append(UInt8(digits[0] << 4 | digits[1]))
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isHarmless(_ name: String) -> Bool {
        // `-` would be the standard output.
        guard !["", ".", "..", "-"].contains(name), name.utf8.count <= 255 else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            // Neither characters that end a line nor those that change its direction: a name must look like what it is.
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: scalar != "/"
            }
        }
    }

    /// A file's name as a URL's last part.
    static func percentEncoded(_ name: String) -> String {
        name.utf8.map { byte in
            switch Unicode.Scalar(byte) {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": String(Unicode.Scalar(byte))
            default: (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
