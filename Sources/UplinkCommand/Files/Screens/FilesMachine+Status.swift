// SPDX-License-Identifier: Apache-2.0

extension FilesMachine {
    /// The status, in one to three lines, or for a failure in up to half the screen, and the cursor's position in the
    /// first line.
    struct Status: Sendable, Equatable {
        var lines: [Text]
        var cursor: Int?
    }

    /// The least room for the text being typed.
    private static let leastEntry = 12

    /// The status: a question first of all, then what is going on, what has happened, or the current state.
    var status: Status {
        if let prompt, keyTable == nil { return asking(prompt) }
        if let work, work.manner == .asked { return Status(lines: [going(work)]) }
        let text = notice.map(Self.text) ?? state
        let most = notice?.isFailure == true ? size.rows / 2 : 3
        return Status(lines: shown(text, rows: max(1, min(most, size.rows - 4))))
    }

    /// The text in at most this many rows; a mark shows that some is missing.
    private func shown(_ text: Text, rows: Int) -> [Text] {
        let lines = text.wrapped(toColumns: size.columns)
        guard lines.count > rows else { return lines }
        let last = (lines[rows - 1] + Text(" ") + lines[rows]).truncated(toColumns: size.columns)
        return lines.prefix(rows - 1) + [last]
    }

    private func asking(_ prompt: Prompt) -> Status {
        guard let editor = prompt.editor else {
            let lines = Text.oneLine(prompt.question).color(.yellow).wrapped(toColumns: size.columns)
            // The question is at the end.
            return Status(lines: lines.suffix(max(1, min(3, size.rows - 4))))
        }
        let label = Text(prompt.question).bold().truncated(toColumns: max(0, size.columns - Self.leastEntry))
        let entry = editor.shown(inColumns: max(1, size.columns - label.width))
        return Status(lines: [label + entry.text], cursor: label.width + entry.cursor)
    }

    private func going(_ work: Work) -> Text {
        let activity = Text {
            Text.spinner(turns).color(.cyan)
            " "
            Text.oneLine(work.job.activity)
            " …"
        }
        guard let transferred = work.transferred else { return activity }
        let (done, expected) = (ByteCount(Int(clamping: transferred.done)), transferred.expected)
        let share = expected.map { $0 > 0 ? Double(transferred.done) / Double($0) : 1 }
        let amount = expected.map { "\(done) of \(ByteCount(Int(clamping: $0)))" } ?? "\(done)"
        let name = activity.truncated(toColumns: max(10, size.columns / 2)) + Text("  ")
        return name + ProgressBar.line(share: share, amount, columns: size.columns - name.width)
    }

    private static func text(_ notice: Notice) -> Text {
        switch notice.kind {
        case .done: Text("✓ ").color(.green) + Text.oneLine(notice.text)
        case .failure: (Text("✗ ") + Text.oneLine(notice.text)).color(.red)
        }
    }

    /// The current state, while nothing happens.
    private var state: Text {
        switch screen {
        case .login, .user: return Text()
        case .file(let view): return view.state(in: bodySizeWithOneLine)
        case .folder: break
        }
        guard let list, let listing = list.listing else { return Text() }
        if let change = list.chosenChange { return Text.oneLine(change.story).color(.yellow) }
        if let stored = listing.source.stored {
            return Text.oneLine("Stored, \(stored.ageInWords): \(stored.reason)").color(.yellow)
        }
        if isNetworkThere == false { return Text("No network.").color(.yellow) }
        return Text {
            Text(listing.items.count == 1 ? "1 item" : "\(listing.items.count) items").dim()
            if listing.malformed > 0 {
                Text(", and \(listing.malformed) that cannot be read").color(.yellow)
            }
        }
    }

    /// The size of the body beside a status of one line; the status cannot depend on its own height.
    private var bodySizeWithOneLine: TerminalSize {
        var room = size
        room.rows = max(1, size.rows - (size.rows >= 10 ? 4 : 3))
        return room
    }
}

extension PendingChange {
    /// What will become of the item, in a sentence.
    fileprivate var story: String {
        let what =
            switch kind {
            case .upload: "The upload"
            case .newFolder: "The new folder"
            case .deletion: "The deletion"
            }
        switch state {
        case .waiting(let problem?): return "\(what) waits for the server: \(problem)"
        case .waiting(nil): return "\(what) waits until the server can be reached."
        case .sending: return "\(what) is on its way."
        case .conflict(let reason): return "\(what) is refused: \(reason)"
        }
    }
}
