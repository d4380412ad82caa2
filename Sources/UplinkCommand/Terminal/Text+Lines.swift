// SPDX-License-Identifier: Apache-2.0

extension Text {
    /// Text for one line: line breaks are replaced like other control characters.
    static func oneLine(_ characters: String) -> Text {
        Text(String(String.UnicodeScalarView(characters.unicodeScalars.map { $0 == "\n" ? "\u{FFFD}" : $0 })))
    }

    /// The lines, of which there is at least one.
    var lines: [Text] {
        var lines = [Text()]
        for run in runs {
            let parts = run.characters.split(separator: "\n", omittingEmptySubsequences: false)
            for (index, part) in parts.enumerated() {
                if index > 0 { lines.append(Text()) }
                lines[lines.count - 1] += Text(String(part), like: run.style)
            }
        }
        return lines
    }

    /// The line, or if it is wider, its beginning with `…`.
    func truncated(toColumns columns: Int) -> Text {
        guard width > columns else { return self }
        guard columns > 1 else { return Text(String(repeating: "…", count: max(0, columns))) }
        var (kept, room) = (Text(), columns - 1)
        for run in runs {
            let fitting = run.characters.prefix { character in
                room -= character.columns
                return room >= 0
            }
            kept += Text(String(fitting), like: run.style)
            if room < 0 { return kept + Text("…", like: run.style) }
        }
        return kept
    }

    /// The line with spaces after it, or before it, up to this many columns.
    func padded(toColumns columns: Int, atStart: Bool = false) -> Text {
        let padding = Text(String(repeating: " ", count: max(0, columns - width)))
        return atStart ? padding + self : self + padding
    }

    /// The text with every line that is wider broken, between words if there is a space.
    func wrapped(toColumns columns: Int) -> [Text] {
        lines.flatMap { line in
            var rest = line
            var parts: [Text] = []
            while true {
                let (part, tail) = rest.broken(at: columns)
                parts.append(part)
                guard let tail else { return parts }
                rest = tail
            }
        }
    }

    /// The beginning of a line that fits, and the rest.
    private func broken(at columns: Int) -> (Text, rest: Text?) {
        guard width > columns else { return (self, nil) }
        let characters = plain
        let end = LineBreak.end(of: characters[...], columns: columns)
        if end == characters.endIndex { return (self, nil) }  // a single character that is too wide
        var count = characters.distance(from: characters.startIndex, to: end)
        var (part, rest) = (Text(), Text())
        for run in runs {
            let (head, tail) = (run.characters.prefix(count), run.characters.dropFirst(count))
            part += Text(String(head), like: run.style)
            rest += Text(String(tail), like: run.style)
            count -= head.count
        }
        return (part, rest)
    }

    /// Creates characters with a style.
    private init(_ characters: String, like style: Style) {
        var text = Text(characters)
        if let color = style.color { text = text.color(color) }
        if let background = style.background { text = text.background(background) }
        if style.isBold { text = text.bold() }
        if style.isDim { text = text.dim() }
        if style.isUnderlined { text = text.underline() }
        self = text
    }
}

/// Where a line is broken.
enum LineBreak {
    /// The end of what fits into this many columns, at least one character; after a space if there is one and words
    /// matter.
    static func end(of line: Substring, columns: Int, betweenWords: Bool = true) -> String.Index {
        var room = columns
        var end = line.startIndex
        var afterSpace: String.Index?
        while end < line.endIndex {
            let character = line[end]
            room -= character.columns
            guard room >= 0 || end == line.startIndex else { return betweenWords ? afterSpace ?? end : end }
            line.formIndex(after: &end)
            if character == " " { afterSpace = end }
        }
        return end
    }
}
