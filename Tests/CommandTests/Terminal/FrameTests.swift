// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

/// Lines that are made to fit, and what is written for them.
@Suite(.timeLimit(.minutes(1)))
struct FrameTests {
    @Test(arguments: [
        ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("日本語", 6, "日本語"), ("ab", 1, "…"),
        ("ab", 0, ""), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("👨‍👩‍👧x", 2, "…"),
    ])
    func aLineIsCutToItsColumns(line: String, columns: Int, result: String) {
        #expect(Text(line).truncated(toColumns: columns).plain == result)
    }

    @Test func looksStayWhereALineIsCutPaddedOrBroken() {
        let text = Text { Text("red").color(.red) + Text(" and bold").bold() }
        #expect(text.truncated(toColumns: 6).ansi == "\u{1B}[31mred\u{1B}[0m\u{1B}[1m a…\u{1B}[0m")
        #expect(Text("a").bold().padded(toColumns: 3).plain == "a  ")
        #expect(Text("日").padded(toColumns: 3, atStart: true).plain == " 日")
        #expect(Text("long").padded(toColumns: 2).plain == "long")
        let broken = text.wrapped(toColumns: 8)
        #expect(broken.map(\.plain) == ["red and ", "bold"])
        #expect(broken[1].ansi == "\u{1B}[1mbold\u{1B}[0m")
    }

    @Test(arguments: [
        ("a b", 10, ["a b"]), ("", 5, [""]), ("ab cd", 4, ["ab ", "cd"]), ("abcdef", 4, ["abcd", "ef"]),
        ("a\n\nb", 4, ["a", "", "b"]), ("日本語", 4, ["日本", "語"]), ("日本", 1, ["日", "本"]),
    ])
    func linesAreBrokenBetweenWordsWherePossible(text: String, columns: Int, lines: [String]) {
        #expect(Text(text).wrapped(toColumns: columns).map(\.plain) == lines)
        #expect(
            Text(text).lines.map(\.plain)
                == text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }

    @Test func oneLineHasNoLineBreak() {
        #expect(Text.oneLine("a\nb\r\nc").plain.split(whereSeparator: \.isNewline).count == 1)
    }

    @Test func aPictureThatStandsThereIsLeftAlone() {
        let size = TerminalSize(columns: 4, rows: 3)
        let frame = Frame(lines: [Text("a"), Text(), Text("b")], picture: .init(sequence: "P", rows: 1..<2))
        #expect(
            frame.sequence(besidePictureIn: size, withStyles: false)
                == "\u{1B}[?25l\u{1B}[1;1Ha\u{1B}[K\u{1B}[3;1Hb\u{1B}[K")
    }

    @Test func aFrameWritesOverWhatStoodThere() {
        let size = TerminalSize(columns: 4, rows: 3)
        let frame = Frame(lines: [Text("a").bold(), Text("abcde")], cursor: .init(row: 1, column: 2))
        #expect(
            frame.sequence(in: size, withStyles: false)
                == "\u{1B}[?25l\u{1B}[Ha\u{1B}[K\r\nabc…\r\n\u{1B}[J\u{1B}[2;3H\u{1B}[?25h")
        #expect(frame.sequence(in: size, withStyles: true).contains("\u{1B}[1ma\u{1B}[0m\u{1B}[K"))
        let full = Frame(lines: [Text("1"), Text("2"), Text("3"), Text("4")])
        #expect(full.sequence(in: size, withStyles: false) == "\u{1B}[?25l\u{1B}[H1\u{1B}[K\r\n2\u{1B}[K\r\n3\u{1B}[K")
        let picture = Frame(lines: [], cursor: nil, picture: .init(sequence: "P", rows: 1..<2))
        #expect(picture.sequence(in: size, withStyles: false).hasSuffix("\u{1B}[2;1HP"))
    }
}
