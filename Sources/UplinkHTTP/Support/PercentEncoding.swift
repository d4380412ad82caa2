// SPDX-License-Identifier: Apache-2.0

/// Bytes as a URL writes them: `%` and two hexadecimal digits (RFC 3986, section 2.1).
package enum PercentEncoding {
    /// Writes every byte that is not to be kept as it is with a percent sign. Only ASCII can be kept.
    package static func encode(_ bytes: some Sequence<UInt8>, keeping isKept: (UInt8) -> Bool) -> String {
        bytes.reduce(into: "") { text, byte in
            if isKept(byte) { text.unicodeScalars.append(Unicode.Scalar(byte)) } else { append(byte, to: &text) }
        }
    }

    /// Appends one byte with a percent sign.
    package static func append(_ byte: UInt8, to text: inout String) {
        text += byte < 16 ? "%0" : "%"
        text += String(byte, radix: 16, uppercase: true)
    }

    /// The bytes that a text stands for; nil where a percent sign is not followed by two digits.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
