// SPDX-License-Identifier: Apache-2.0

/// A server's id of an item: 40 hexadecimal digits, kept as they came.
struct ItemID: Sendable, Hashable, CustomStringConvertible {
    static let length = 40
    let text: String

    /// Creates an id; nil unless the text is one.
    init?(_ text: String) {
        guard text.utf8.count == Self.length, text.utf8.allSatisfy(\.isHexDigit) else { return nil }
        self.text = text
    }

    var description: String { text }
}

extension UInt8 {
    /// Whether it is an ASCII hexadecimal digit.
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
