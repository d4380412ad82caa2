// SPDX-License-Identifier: Apache-2.0

/// A file's content as it can be shown.
enum FileContent: Sendable, Equatable {
    case text(TextPages)
    case picture(Picture)
    /// Neither of these: only its type and size can be shown.
    case data
    /// What it should be, and why it cannot be shown.
    case unreadable(String)

    /// The most bytes of a text to show.
    static let maximumText = 1 << 20

    /// How many bytes of a file to read to show it; 0 when nothing of it is shown.
    static func limit(for item: Item) -> Int {
        switch item.kind {
        case .image: PictureInfo.maximumBytes
        case .text: maximumText
        case .data: 0
        }
    }

    /// Creates the content from the bytes of a whole file.
    init(_ bytes: [UInt8], of item: Item) {
        switch item.kind {
        case .text:
            if let text = String(validating: bytes, as: UTF8.self) {
                self = .text(TextPages(text))
            } else {
                self = .unreadable("This text is not in UTF-8. Save it to a file to see it elsewhere.")
            }
        case .image:
            do throws(PictureError) {
                self = .picture(try Picture(file: bytes))
            } catch {
                self = .unreadable("This picture cannot be shown: \(error).")
            }
        case .data: self = .data
        }
    }

    /// The content of a file with more bytes than can be shown.
    static func tooLarge(_ item: Item) -> Self {
        .unreadable("More than \(ByteCount(limit(for: item))) are not shown. Save it to a file to see it elsewhere.")
    }
}

/// A text with a position, for reading page by page. Lines are broken at the terminal's current width.
struct TextPages: Sendable, Equatable {
    /// The most characters of a line that are broken together, so that a file with only one line can be read, too.
    private static let longest = 1000
    /// How many lines the text has.
    let lineCount: Int
    private let lines: [Substring]
    /// The line at the top, and how many of its rows are above the top.
    private var top = Place(line: 0, row: 0)

    private struct Place: Sendable, Equatable {
        var line: Int
        var row: Int
    }

    init(_ text: String) {
        var text = text[...]
        if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isLineEnd)
        if lines.count > 1, lines.last?.isEmpty == true { lines.removeLast() }
        lineCount = lines.count
        // Replaced before they are measured, because what replaces them has a column.
        self.lines = lines.flatMap { Self.pieces(Self.expanded($0.harmless(keepingTabs: true)[...])) }
    }

    var isEmpty: Bool { lines.allSatisfy(\.isEmpty) }

    /// The visible rows.
    func rows(in size: TerminalSize) -> [Text] {
        var rows: [Text] = []
        var line = top.line
        while line < lines.count, rows.count < size.rows + top.row {
            rows += broken(line, size.columns).map { Text(String($0)) }
            line += 1
        }
        return Array(rows.dropFirst(top.row).prefix(size.rows))
    }

    /// How much of the text is above the bottom edge, in percent.
    func percent(in size: TerminalSize) -> Int {
        var (line, room) = (top.line, size.rows + top.row)
        while line < lines.count {
            room -= broken(line, size.columns).count
            if room < 0 { break }
            line += 1
        }
        return lines.isEmpty ? 100 : line * 100 / lines.count
    }

    /// Moves this many rows down, or up if negative, within the text.
    mutating func scroll(by count: Int, in size: TerminalSize) {
        top.row = min(top.row, broken(top.line, size.columns).count - 1)  // the width may have changed
        if count > 0 { down(count, size.columns) } else { up(-count, size.columns) }
        let last = lastTop(in: size)
        if (top.line, top.row) > (last.line, last.row) { top = last }
    }

    /// Takes over the position in another text, or moves to the end if there are no such lines any more.
    mutating func keepPlace(of other: Self, in size: TerminalSize) {
        top = other.top
        if top.line >= lines.count { scrollToEnd(in: size) } else { scroll(by: 0, in: size) }
    }

    mutating func scrollToStart() { top = Place(line: 0, row: 0) }
    mutating func scrollToEnd(in size: TerminalSize) { top = lastTop(in: size) }

    private mutating func down(_ count: Int, _ columns: Int) {
        top.row += count
        while top.line < lines.count - 1 {
            let rows = broken(top.line, columns).count
            guard top.row >= rows else { return }
            top.row -= rows
            top.line += 1
        }
    }

    private mutating func up(_ count: Int, _ columns: Int) {
        top.row -= count
        while top.row < 0, top.line > 0 {
            top.line -= 1
            top.row += broken(top.line, columns).count
        }
        top.row = max(0, top.row)
    }

    /// The position at which the end just becomes visible.
    private func lastTop(in size: TerminalSize) -> Place {
        var end = self
        end.top = Place(line: lines.count - 1, row: broken(lines.count - 1, size.columns).count)
        end.up(size.rows, size.columns)
        return end.top
    }

    /// A line's rows, of which there is at least one.
    private func broken(_ line: Int, _ columns: Int) -> [Substring] {
        var rest = lines[line]
        if rest.utf8.count <= columns, rest.utf8.allSatisfy({ $0 < 0x80 }) { return [rest] }
        var rows: [Substring] = []
        while !rest.isEmpty {
            let end = LineBreak.end(of: rest, columns: max(1, columns))
            rows.append(rest[..<end])
            rest = rest[end...]
        }
        return rows.isEmpty ? [""] : rows
    }

    private static func pieces(_ line: Substring) -> [Substring] {
        var (pieces, rest) = ([Substring](), line)
        while rest.utf8.count > longest,
            let end = rest.index(rest.startIndex, offsetBy: longest, limitedBy: rest.endIndex)
        {
            pieces.append(rest[..<end])
            rest = rest[end...]
        }
        return rest.isEmpty && !pieces.isEmpty ? pieces : pieces + [rest]
    }

    /// A line with spaces in place of tabs, up to every eighth column.
    private static func expanded(_ line: Substring) -> Substring {
        guard line.utf8.contains(UInt8(ascii: "\t")) else { return line }
        var (result, column) = ("", 0)
        for character in line {
            let width = character == "\t" ? 8 - column % 8 : character.columns
            column += width
            result += character == "\t" ? String(repeating: " ", count: width) : String(character)
        }
        return result[...]
    }
}

extension Character {
    /// Whether it ends a line of a text file; other characters that could are left visible.
    fileprivate var isLineEnd: Bool { self == "\n" || self == "\r\n" }
}
