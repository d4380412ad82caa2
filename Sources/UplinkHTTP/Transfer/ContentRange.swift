// SPDX-License-Identifier: Apache-2.0

/// `Content-Range` in bytes (RFC 9110, section 14.4).
package enum ContentRange: Sendable, Hashable {
    /// These bytes, including both ends, of a total if the server knows it.
    case part(first: Int64, last: Int64, total: Int64?)
    /// The requested range is beyond the end of the content, which has this length.
    case unsatisfied(total: Int64)

    /// Parses a value; nil for anything that the grammar does not allow, and for contradictory ends.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = Self.number(halves[1])
        if halves[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < .max, total.map({ last < $0 }) ?? (halves[1] == "*")
        else { return nil }
        self = .part(first: first, last: last, total: total)
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy(\.isDigit) ? Int64(text) : nil
    }
}
