// SPDX-License-Identifier: Apache-2.0

// The layout of a screen: a title, an empty line if there is room, the body, some status lines, and the keys.

extension FilesMachine {
    /// The rows between the title and the status.
    var bodyRows: Int { max(0, size.rows - 1 - gapRows - status.lines.count - 1) }

    /// The size of the body.
    var bodySize: TerminalSize {
        var room = size
        room.rows = max(1, bodyRows)
        return room
    }

    /// The row the body begins in.
    var bodyTop: Int { 1 + gapRows }

    private var gapRows: Int { size.rows >= 10 ? 1 : 0 }

    /// The picture to draw over the body, if there is one.
    var picture: Picture? {
        guard case .file(let view) = screen, keyTable == nil, case .picture(let picture) = view.content else {
            return nil
        }
        return picture
    }

    /// Everything on the terminal except the picture.
    var frame: Frame {
        let status = status
        guard size.rows > 2 else {
            // There is only room for the status.
            return Frame(
                lines: status.lines.prefix(size.rows).map { $0.truncated(toColumns: size.columns) },
                cursor: status.cursor.map { Frame.Cell(row: 0, column: $0) })
        }
        var body = keyTable.map { $0.rows(in: bodySize) } ?? self.body
        body = Array(body.prefix(bodyRows))
        body += Array(repeating: Text(), count: bodyRows - body.count)
        let lines = [title] + Array(repeating: Text(), count: gapRows) + body + status.lines + [keys]
        return Frame(lines: lines.map { $0.truncated(toColumns: size.columns) }, cursor: cursor(status))
    }

    private func cursor(_ status: Status) -> Frame.Cell? {
        if let column = status.cursor { return Frame.Cell(row: bodyTop + bodyRows, column: column) }
        guard case .login(let form) = screen, work == nil, let cursor = form.cursor(in: bodySize) else { return nil }
        return Frame.Cell(row: bodyTop + cursor.row, column: cursor.column)
    }

    /// What the screen is about, and on the right whose it is or how old it is.
    private var title: Text {
        switch screen {
        case .login: return Text("Log in to a file server").bold()
        case .user: return Text("Who is logged in").bold()
        case .folder, .file:
            let note = titleNote
            let room = size.columns - note.width - 2
            guard room >= 12 else { return breadcrumbs(inColumns: size.columns) }
            return breadcrumbs(inColumns: room).padded(toColumns: room) + Text("  ") + note
        }
    }

    private var titleNote: Text {
        let stored: StoredAnswer? =
            switch screen {
            case .file(let view): view.stored
            case .folder: list?.listing?.source.stored
            case .login, .user: nil
            }
        if let stored { return Text("stored, \(stored.ageInWords)").color(.yellow) }
        if !pending.isEmpty { return Text("\(pending.count) waiting").color(.yellow) }
        return Text.oneLine(user?.name ?? "").dim()
    }

    /// The path, or its end if there is no room for all.
    private func breadcrumbs(inColumns columns: Int) -> Text {
        var names = (list?.path ?? []).dropFirst().map(\.name)
        if case .file(let view) = screen { names.append(view.item.name) }
        func line(_ names: some Collection<String>, isWhole: Bool) -> Text {
            Text {
                Text(isWhole ? "Files" : "…").color(.cyan)
                for (index, name) in names.enumerated() {
                    Text(" › ").dim()
                    index == names.count - 1 ? Text.oneLine(name).bold() : Text.oneLine(name)
                }
            }
        }
        var shown = names[...]
        while line(shown, isWhole: shown.count == names.count).width > columns, shown.count > 1 { shown.removeFirst() }
        return line(shown, isWhole: shown.count == names.count).truncated(toColumns: columns)
    }

    private var body: [Text] {
        switch screen {
        case .login(let form): form.lines(in: bodySize)
        case .folder: list?.lines(in: bodySize) ?? []
        case .file(let view): view.lines(in: bodySize)
        case .user: userLines
        }
    }

    private var userLines: [Text] {
        Text {
            Text("Name    ").dim()
            Text.oneLine(user?.name ?? "")
            Text.lineBreak
            Text("User    ").dim()
            Text.oneLine(login.user)
            Text.lineBreak
            Text("Server  ").dim()
            Text.oneLine(login.server)
            if !pending.isEmpty {
                Text.lineBreak
                Text("Waiting ").dim()
                pending.count == 1 ? "1 change" : "\(pending.count) changes"
            }
        }.wrapped(toColumns: size.columns)
    }
}

extension User {
    /// Both names.
    var name: String { [firstName, lastName].filter { !$0.isEmpty }.joined(separator: " ") }
}

extension AnswerSource {
    /// The description of an answer from the store; nil for one from the server.
    var stored: StoredAnswer? {
        switch self {
        case .server: nil
        case .store(let answer): answer
        }
    }
}

extension StoredAnswer {
    /// How old it is, for a person: `5 min old`.
    var ageInWords: String {
        guard let age else { return "of unknown age" }
        let seconds = max(0, age.components.seconds)
        switch seconds {
        case ..<60: return "\(seconds) s old"
        case ..<3600: return "\(seconds / 60) min old"
        case ..<172_800: return "\(seconds / 3600) h old"
        default: return "\(seconds / 86_400) days old"
        }
    }
}
