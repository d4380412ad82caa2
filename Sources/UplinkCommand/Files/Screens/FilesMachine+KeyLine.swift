// SPDX-License-Identifier: Apache-2.0

/// A key, and what it does.
struct KeyHint: Sendable, Hashable {
    let key: String
    let meaning: String

    init(_ key: String, _ meaning: String) { (self.key, self.meaning) = (key, meaning) }

    /// As many hints as fit in a line, always including the last one.
    static func line(_ hints: [KeyHint], columns: Int) -> Text {
        guard let last = hints.last else { return Text() }
        var shown: [KeyHint] = []
        for hint in hints.dropLast() where text(shown + [hint, last]).width <= columns { shown.append(hint) }
        return text(shown + [last])
    }

    private static func text(_ hints: [KeyHint]) -> Text {
        Text {
            for (index, hint) in hints.enumerated() {
                if index > 0 { "  " }
                Text(hint.key).bold()
                " "
                Text(hint.meaning).dim()
            }
        }
    }
}

// Tests in a pseudo-terminal wait for these words: `enter log in`, `enter open`, `q quit`, `enter go`, `y yes`,
// `esc cancel`, `r retry`, `← back`; above them the questions of `Prompt`, and `✓ … is there.`, `✓ … is deleted.`,
// `✓ Saved as ….`, `✓ Logged out.`, `✗ ` before a failure. A test sends ESC on its own, and waits for what it leads to.

extension FilesMachine {
    /// The help line: what the keys do now, with the most important ones first.
    var keys: Text { KeyHint.line(hints, columns: size.columns) }

    private var hints: [KeyHint] {
        if keyTable != nil { return [KeyHint("↑↓", "scroll"), KeyHint("any other key", "back")] }
        if let prompt {
            return prompt.editor == nil
                ? [KeyHint("y", "yes"), KeyHint("n", "no")] : [KeyHint("enter", "go"), KeyHint("esc", "cancel")]
        }
        if work?.job.isWork == true { return [KeyHint("esc", "cancel"), KeyHint("q", "quit"), KeyHint("?", "keys")] }
        let isBusy = work?.manner == .asked
        let retry: [KeyHint] = if case .failure(.some) = notice?.kind { [KeyHint("r", "retry")] } else { [] }
        switch screen {
        case .login:
            return isBusy
                ? [KeyHint("esc", "cancel")]
                : [KeyHint("enter", "log in"), KeyHint("tab", "next field"), KeyHint("esc", "quit")]
        case .folder:
            let busy = isBusy ? [KeyHint("esc", "cancel")] : []
            let conflict =
                list?.chosenChange.map { _ in [KeyHint("t", "try again"), KeyHint("x", "discard")] } ?? []
            return busy + retry + conflict + [
                KeyHint("enter", "open"), KeyHint("←", "up"), KeyHint("q", "quit"), KeyHint("n", "new folder"),
                KeyHint("u", "upload"), KeyHint("s", "save"), KeyHint("d", "delete"),
            ] + (retry.isEmpty ? [KeyHint("r", "refresh")] : []) + [
                KeyHint("i", "user"), KeyHint("l", "log out"), KeyHint("?", "keys"),
            ]
        case .file(let view):
            let scrolls = if case .text = view.content { [KeyHint("↑↓", "scroll")] } else { [KeyHint]() }
            return retry + scrolls
                + [KeyHint("←", "back"), KeyHint("s", "save"), KeyHint("q", "quit"), KeyHint("?", "keys")]
        case .user: return [KeyHint("esc", "back"), KeyHint("q", "quit"), KeyHint("?", "keys")]
        }
    }

    /// All keys, for the table.
    var keyTableText: String {
        [
            ("↑ ↓, j k", "choose, or scroll"), ("page up, page down", "the same by pages; also space"),
            ("home, end", "the first, the last"), ("enter, →", "open the folder or the file"),
            ("←, backspace", "up, or back to the folder"), ("n", "make a folder"), ("u", "upload a file"),
            ("s", "save the file on this computer"), ("d, delete", "delete, after a question"),
            ("r", "refresh; after a failure, retry"), ("t", "try a change again that waits or is refused"),
            ("x", "discard such a change"), ("i", "who is logged in"),
            ("esc", "cancel what is going on"), ("l", "log out"), ("q, ctrl-d", "quit"),
            ("ctrl-c", "quit at once"),
        ].map { "\($0.padded(to: 20))\($1)" }.joined(separator: "\n")
    }
}
