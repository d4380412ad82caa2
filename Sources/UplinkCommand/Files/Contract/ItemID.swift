// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

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
