// SPDX-License-Identifier: Apache-2.0
#if Store
/// A key or a name as SQLite compares it: byte by byte. Strings of Swift are also equal if they only mean the same
/// characters: an "é" may be one scalar or two, and these would be two keys in the database and one in memory.
struct ExactKey: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    let text: String

    init(_ text: String) { self.text = text }
    init(stringLiteral text: String) { self.text = text }

    var description: String { text }

    static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
#endif
