// SPDX-License-Identifier: Apache-2.0

// The contents of each screen's body.

extension LoginForm {
    private static let labelWidth = 12  // with the marker

    /// A line for each field; in a low terminal only those around the focused one.
    func lines(in size: TerminalSize) -> [Text] {
        Array(Field.allCases.map { line(of: $0, columns: size.columns) }[visible(rows: size.rows)])
    }

    /// Where the cursor is, counted in these lines.
    func cursor(in size: TerminalSize) -> Frame.Cell? {
        let row = focus.rawValue - visible(rows: size.rows).lowerBound
        guard let editor = editor(of: focus) else { return Frame.Cell(row: row, column: 3) }
        let entry = editor.shown(inColumns: max(1, size.columns - Self.labelWidth))
        return Frame.Cell(row: row, column: Self.labelWidth + entry.cursor)
    }

    private func visible(rows: Int) -> Range<Int> {
        let count = Field.allCases.count
        let first = max(0, min(focus.rawValue, count - 1) - max(1, rows) + 1)
        return first..<min(count, first + max(1, rows))
    }

    private func editor(of field: Field) -> LineEditor? {
        switch field {
        case .server: server
        case .user: user
        case .password: password
        case .keeps: nil
        }
    }

    private func line(of field: Field, columns: Int) -> Text {
        Text {
            Text(field == focus ? "▸ " : "  ").color(.cyan)
            if let editor = editor(of: field) {
                Text(field.label.padded(to: Self.labelWidth - 2)).dim()
                editor.shown(inColumns: max(1, columns - Self.labelWidth)).text
            } else {
                "[\(keeps ? "x" : " ")] \(field.label)"
            }
        }
    }
}

extension LoginForm.Field {
    fileprivate var label: String {
        switch self {
        case .server: "Server"
        case .user: "User"
        case .password: "Password"
        case .keeps: "Keep me logged in on this computer (space)"
        }
    }
}

extension FolderList {
    private static let (sizeWidth, dateWidth) = (10, 18)

    /// The visible items, one per line.
    func lines(in size: TerminalSize) -> [Text] {
        guard let listing else { return [] }
        if items.isEmpty { return [Text("Nothing is in this folder.").dim()] }
        let end = min(items.count, offset + size.rows)
        return (offset..<max(offset, end)).map { index in
            line(items[index], listing.change(of: items[index]), isChosen: index == selection, size.columns)
        }
    }

    private func line(_ item: Item, _ change: PendingChange?, isChosen: Bool, _ columns: Int) -> Text {
        let (showsSize, showsDate) = (columns >= 36, columns >= 60)
        let room =
            columns - 2 - (change == nil ? 0 : 2) - (showsSize ? Self.sizeWidth : 0)
            - (showsDate ? Self.dateWidth : 0)
        let name = Text.oneLine(item.name + (item.isFolder ? "/" : ""))
        return Text {
            Text(isChosen ? "▸ " : "  ").color(.cyan)
            if let change { Text("\(change.mark) ").color(change.isConflict ? .red : .yellow) }
            styled(name, item, isChosen).truncated(toColumns: max(1, room)).padded(toColumns: room)
            if showsSize { Text(item.sizeInWords).dim().padded(toColumns: Self.sizeWidth, atStart: true) }
            if showsDate {
                (change.map { Text($0.word).color($0.isConflict ? .red : .yellow) } ?? Text(item.dateInWords).dim())
                    .padded(toColumns: Self.dateWidth, atStart: true)
            }
        }
    }

    private func styled(_ name: Text, _ item: Item, _ isChosen: Bool) -> Text {
        let colored = item.isFolder ? name.color(.blue) : name
        return isChosen ? colored.bold() : colored
    }
}

extension FilesMachine.FileView {
    /// The text, or what is shown instead of the content.
    func lines(in size: TerminalSize) -> [Text] {
        switch content {
        case .text(let pages) where pages.isEmpty: [Text("This text is empty.").dim()]
        case .text(let pages): pages.rows(in: size)
        case .picture(let picture): described(picture).wrapped(toColumns: size.columns)
        case .data:
            told("Files of this type are not shown. Save it to a file to use it.").wrapped(toColumns: size.columns)
        case .unreadable(let reason): told(reason).wrapped(toColumns: size.columns)
        case nil: []
        }
    }

    /// The current state, for the line above the keys.
    func state(in size: TerminalSize) -> Text {
        switch content {
        case .text(let pages): Text("\(pages.lineCount) lines, \(pages.percent(in: size)) %").dim()
        case .picture(let picture): Text(picture.info.description).dim()
        case .data, .unreadable, nil: Text(item.sizeInWords).dim()
        }
    }

    private func described(_ picture: Picture) -> Text {
        let description = Text(picture.info.description)
        guard let reason = picture.reasonNotDrawn else { return description }
        return Text {
            description
            Text.lineBreak
            Text.lineBreak
            "\(reason) Save it to a file to see it elsewhere."
        }
    }

    private func told(_ reason: String) -> Text {
        Text {
            Text("Type     ").dim()
            Text.oneLine(item.contentType ?? "not known")
            Text.lineBreak
            Text("Size     ").dim()
            item.sizeInWords
            Text.lineBreak
            Text("Changed  ").dim()
            item.dateInWords
            Text.lineBreak
            Text.lineBreak
            Text.oneLine(reason)
        }
    }
}

extension PendingChange {
    /// One character that marks the item.
    fileprivate var mark: String {
        switch state {
        case .conflict: "!"
        case .sending: "↑"
        case .waiting: kind == .deletion ? "-" : "+"
        }
    }

    /// The same in a word.
    fileprivate var word: String {
        switch state {
        case .conflict: "refused"
        case .sending: "being sent"
        case .waiting: kind == .deletion ? "to be deleted" : "waits"
        }
    }
}
