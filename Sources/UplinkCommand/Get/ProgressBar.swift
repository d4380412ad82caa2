// SPDX-License-Identifier: Apache-2.0

/// A bar with words beside it, in one line of a terminal.
enum ProgressBar {
    /// The line, no longer than the terminal is wide: if there is little room, the bar is left out first, then the
    /// words' end.
    ///
    /// - Parameters:
    ///   - share: How much is done, from 0 to 1; nil if that is not known, which leaves the bar out.
    ///   - words: The text that is always beside the bar.
    ///   - news: The text that follows it, and may be shortened.
    ///   - style: How the news look.
    static func line(
        share: Double?, _ words: String, _ news: String = "", columns: Int, style: (Text) -> Text = { $0 }
    ) -> Text {
        let percent = share.map { "\(Int(min(1, max(0, $0)) * 100)) %  " } ?? ""
        let shown = Text(news).truncated(toColumns: columns - 1 - percent.count - words.count - 2)
        let text = Text(percent + words) + (shown.runs.isEmpty ? Text() : Text("  ") + style(shown))
        let room = min(40, columns - 1 - text.width - 2)
        guard let share, room >= 10 else { return text.truncated(toColumns: columns - 1) }
        let done = Int(min(1, max(0, share)) * Double(room))
        return Text(String(repeating: "━", count: done) + String(repeating: "─", count: room - done) + "  ") + text
    }
}
