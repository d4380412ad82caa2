// SPDX-License-Identifier: Apache-2.0

/// What is on a terminal at one moment: no more lines than it has, and none wider than it is.
struct Frame: Sendable, Equatable {
    /// The lines from the top; the rest is empty.
    var lines: [Text]
    /// The cell of the cursor, counted from 0; nil for no cursor.
    var cursor: Cell?
    /// A picture to draw over the lines.
    var picture: PlacedPicture?

    /// A place on the terminal, counted from 0.
    struct Cell: Sendable, Hashable {
        var row: Int
        var column: Int
    }

    /// A picture in the terminal's format, and the rows that it occupies.
    struct PlacedPicture: Sendable, Equatable {
        var sequence: String
        var rows: Range<Int>
    }

    /// The sequence that draws it.
    ///
    /// Nothing flickers: the old contents are overwritten, and only the rest is cleared. A line that fills the
    /// terminal's width is not followed by clearing, which would erase its last character.
    func sequence(in size: TerminalSize, withStyles: Bool) -> String {
        let lines = lines.isEmpty ? [Text()] : lines
        let shown = lines.prefix(max(1, size.rows)).map { $0.truncated(toColumns: size.columns) }
        var sequence = "\u{1B}[?25l\u{1B}[H"
        sequence += shown.map { $0.rendered(withStyles: withStyles) + ($0.width < size.columns ? "\u{1B}[K" : "") }
            .joined(separator: "\r\n")
        if shown.count < size.rows { sequence += "\r\n\u{1B}[J" }
        if let picture {
            sequence += "\u{1B}[\(picture.rows.lowerBound + 1);1H\(picture.sequence)"
        }
        return sequence + cursorSequence(in: size)
    }

    /// The sequence when its picture is there already: it draws the lines outside the picture's rows.
    func sequence(besidePictureIn size: TerminalSize, withStyles: Bool) -> String {
        var sequence = "\u{1B}[?25l"
        for (row, line) in lines.prefix(max(1, size.rows)).enumerated() where picture?.rows.contains(row) != true {
            let line = line.truncated(toColumns: size.columns)
            sequence += "\u{1B}[\(row + 1);1H" + line.rendered(withStyles: withStyles)
            if line.width < size.columns { sequence += "\u{1B}[K" }
        }
        return sequence + cursorSequence(in: size)
    }

    private func cursorSequence(in size: TerminalSize) -> String {
        if let cursor, cursor.row < size.rows {
            return "\u{1B}[\(cursor.row + 1);\(min(cursor.column + 1, size.columns))H\u{1B}[?25h"
        }
        return ""
    }
}
