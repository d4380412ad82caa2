// SPDX-License-Identifier: Apache-2.0

/// A question in the line above the keys: for a name or a path, or for confirmation.
enum Prompt: Sendable, Hashable {
    case newFolder(LineEditor, in: Item)
    case upload(LineEditor, to: Item)
    case save(Item, LineEditor)
    case delete(Item)
    case discard(PendingChange)
    /// Whether to quit although something is going on.
    case quit

    /// What a key leads to.
    enum Outcome: Sendable, Hashable {
        /// The question is still asked.
        case asking(Prompt)
        case answered(FilesJob)
        case quit
        case dropped
    }

    /// The line being typed; nil if the answer is yes or no.
    var editor: LineEditor? {
        switch self {
        case .newFolder(let editor, _), .upload(let editor, _), .save(_, let editor): editor
        case .delete, .discard, .quit: nil
        }
    }

    func take(_ key: Key) -> Outcome {
        if key == .escape || key == .control("d") { return .dropped }
        guard var editor else {
            if key.isLetter("y") { return confirmed }
            return key.isLetter("n") ? .dropped : .asking(self)
        }
        guard key == .enter else {
            _ = editor.take(key)
            return .asking(with(editor))
        }
        return editor.isEmpty ? .asking(self) : confirmed
    }

    private func with(_ editor: LineEditor) -> Prompt {
        switch self {
        case .newFolder(_, let folder): .newFolder(editor, in: folder)
        case .upload(_, let folder): .upload(editor, to: folder)
        case .save(let item, _): .save(item, editor)
        case .delete, .discard, .quit: self
        }
    }

    private var confirmed: Outcome {
        switch self {
        case .newFolder(let editor, let folder): .answered(.makeFolder(named: editor.text, in: folder))
        case .upload(let editor, let folder): .answered(.upload(path: editor.text, to: folder))
        case .save(let item, let editor): .answered(.save(item, to: editor.text))
        case .delete(let item): .answered(.delete(item))
        case .discard(let change): .answered(.discard(change))
        case .quit: .quit
        }
    }

    /// The text of the question.
    var question: String {
        switch self {
        case .newFolder: "New folder: "
        case .upload: "Upload the file: "
        case .save: "Save as: "
        case .delete(let item) where item.isFolder: "Delete “\(item.name)” with all that is in it? y/n"
        case .delete(let item): "Delete “\(item.name)”? y/n"
        case .discard(let change) where change.kind == .upload:
            "Discard the upload of “\(change.item.name)”? Its copy here goes as well. y/n"
        case .discard(let change): "Discard what waits of “\(change.item.name)”? y/n"
        case .quit: "Something is still going on, and quitting ends it. Quit? y/n"
        }
    }
}
