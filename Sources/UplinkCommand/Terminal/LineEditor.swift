// SPDX-License-Identifier: Apache-2.0

/// A line being typed, with a cursor. The text is kept unchanged; only what is shown of it is made harmless.
struct LineEditor: Sendable, Hashable {
    /// The text before the cursor, and after it.
    private var before: String
    private var after = ""
    /// Whether the characters are hidden, as a password's are.
    private let isSecret: Bool

    init(_ text: String = "", isSecret: Bool = false) {
        before = text
        self.isSecret = isSecret
    }

    var text: String { before + after }
    var isEmpty: Bool { before.isEmpty && after.isEmpty }

    /// Does what a key does in a line.
    ///
    /// - Returns: Whether the key has a meaning here.
    mutating func take(_ key: Key) -> Bool {
        switch key {
        case .character(let character): before.append(character)
        // A copied line includes its line break.
        case .paste(let text): before += text.trimmingSuffix(while: \.isNewline)
        case .backspace: _ = before.popLast()
        case .delete: if !after.isEmpty { after.removeFirst() }
        case .left: if let character = before.popLast() { after.insert(character, at: after.startIndex) }
        case .right: if !after.isEmpty { before.append(after.removeFirst()) }
        case .home, .control("a"): (before, after) = ("", text)
        case .end, .control("e"): (before, after) = (text, "")
        case .control("u"): before = ""
        case .control("k"): after = ""
        case .control("w"):
            while before.last == " " { before.removeLast() }
            while let last = before.last, last != " " { before.removeLast() }
        case .control, .enter, .escape, .tab, .backTab, .up, .down, .pageUp, .pageDown: return false
        }
        return true
    }

    /// The part of the line around the cursor that fits, and the cursor's column in it.
    func shown(inColumns columns: Int) -> (text: Text, cursor: Int) {
        let (head, tail) = (Self.picture(before, isSecret), Self.picture(after, isSecret))
        var room = max(1, columns) - 1  // the cursor's own cell
        var start = head.endIndex
        while start > head.startIndex {
            let previous = head.index(before: start)
            guard room >= head[previous].columns else { break }
            room -= head[previous].columns
            start = previous
        }
        let visible = Text.oneLine(String(head[start...]))
        return ((visible + Text.oneLine(tail)).clipped(toColumns: columns), visible.width)
    }

    /// The text to show. Even the length of a password is hidden, once it is longer than a few characters.
    private static func picture(_ text: String, _ isSecret: Bool) -> String {
        isSecret ? String(repeating: "•", count: min(12, text.count)) : Text.oneLine(text).plain
    }
}

extension Text {
    /// A line's beginning that fits, without a mark.
    fileprivate func clipped(toColumns columns: Int) -> Text {
        guard width > columns else { return self }
        let line = plain
        return Text(String(line[..<LineBreak.end(of: line[...], columns: columns, betweenWords: false)]))
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while isDropped: (Character) -> Bool) -> String {
        var rest = self[...]
        while let last = rest.last, isDropped(last) { rest = rest.dropLast() }
        return String(rest)
    }
}
