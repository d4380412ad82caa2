// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The order of a listing: folders first, then by name, without regard to case and accents, numbers by their value.
enum ItemOrder {
    /// Puts items in order.
    static func sorted(_ items: [Item]) -> [Item] {
        items.map { (item: $0, key: Key($0)) }.sorted { $0.key < $1.key }.map(\.item)
    }

    /// What an item is compared by; made once for each.
    private struct Key: Comparable {
        let isFolder: Bool
        let pieces: [Piece]
        /// Decides between names that differ only in case, accents or leading zeros.
        let name: String
        let id: String

        init(_ item: Item) {
            isFolder = item.isFolder
            let folded = item.name.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            pieces = Piece.pieces(of: folded)
            name = item.name
            id = item.id.text
        }

        static func < (one: Self, other: Self) -> Bool {
            if one.isFolder != other.isFolder { return one.isFolder }
            if one.pieces != other.pieces { return one.pieces.lexicographicallyPrecedes(other.pieces) }
            return (one.name, one.id) < (other.name, other.id)
        }
    }

    /// A character, or a run of digits as a number of any length.
    private enum Piece: Comparable {
        case number(length: Int, digits: String)
        case character(Character)

        static func pieces(of text: String) -> [Piece] {
            var pieces: [Piece] = []
            var rest = text[...]
            while let first = rest.first {
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                if digits.isEmpty {
                    pieces.append(.character(first))
                    rest.removeFirst()
                } else {
                    let value = digits.drop { $0 == "0" }
                    pieces.append(.number(length: value.count, digits: String(value)))
                    rest = rest[digits.endIndex...]
                }
            }
            return pieces
        }
    }
}
