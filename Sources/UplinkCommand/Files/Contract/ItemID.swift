// SPDX-License-Identifier: Apache-2.0
import UplinkHTTP

/// What a server calls an item: 40 hexadecimal digits, kept as they came.
struct ItemID: Sendable, Hashable, CustomStringConvertible {
    static let length = 40
    let text: String

    /// Nil unless the text is an id.
    init?(_ text: String) {
        guard text.utf8.count == Self.length, text.utf8.allSatisfy(\.isHexDigit) else { return nil }
        self.text = text
    }

    var description: String { text }
}
