// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

/// What a terminal sends, and the keys that it means.
@Suite(.timeLimit(.minutes(1)))
struct KeyParserTests {
    private static let cases: [(String, [Key])] = [
        ("aZ 1", [.character("a"), .character("Z"), .character(" "), .character("1")]),
        ("é日👍", [.character("é"), .character("日"), .character("👍")]),
        ("\r\n\t\u{7F}\u{08}", [.enter, .enter, .tab, .backspace, .backspace]),
        ("\u{01}\u{04}\u{15}", [.control("a"), .control("d"), .control("u")]),
        ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]),
        ("\u{1B}OA\u{1B}OB\u{1B}OC\u{1B}OD\u{1B}OH\u{1B}OF\u{1B}OM", [.up, .down, .right, .left, .home, .end, .enter]),
        ("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~", [.home, .end, .home, .end, .home, .end]),
        ("\u{1B}[5~\u{1B}[6~\u{1B}[3~\u{1B}[Z", [.pageUp, .pageDown, .delete, .backTab]),
        ("\u{1B}[1;5A\u{1B}[6;2~", [.up, .pageDown]),
        // Pastes are not keys.
        ("\u{1B}[200~q\u{1B}[Ad\r\n\u{1B}[201~x", [.paste("q\u{1B}[Ad\r\n"), .character("x")]),
        // What is not known is passed over whole: function keys, the mouse, Alt, answers of the terminal.
        ("\u{1B}OP\u{1B}[15~\u{1B}[[Aq", [.character("q")]),
        ("\u{1B}[<0;10;10M\u{1B}qr", [.character("r")]),
        ("\u{1B}_Gi=1;OK\u{1B}\\\u{1B}]11;rgb:0/0/0\u{07}\u{1B}P1+r\u{1B}\\\u{1B}[?62;4cq", [.character("q")]),
        ("\u{1B}[?62;1;2;4;6;9;15;16;17;18;21;22;28;29;30;31cq", [.character("q")]),
        ("\u{1B}\u{1B}[A", [.escape, .up]),
    ]

    @Test(arguments: cases.indices)
    func bytesAreKeysHoweverTheyAreCut(index: Int) {
        let (text, keys) = Self.cases[index]
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            var parser = KeyParser()
            let found = parser.take(bytes[..<cut]) + parser.take(bytes[cut...])
            #expect(found == keys, "cut at \(cut)")
            #expect(parser.patience == nil)
        }
    }

    @Test func escapeAloneIsAKeyOnceNothingFollows() {
        var parser = KeyParser()
        #expect(parser.take([0x1B]).isEmpty)
        #expect(parser.patience == .milliseconds(50))
        #expect(parser.timeOut() == .escape)
        #expect(parser.take(Array("[A".utf8)) == [.character("["), .character("A")])
    }

    @Test(arguments: ["\u{1B}[", "\u{1B}[1;", "\u{1B}O", "\u{1B}_Gi=1", "\u{1B}[["])
    func whatIsCutOffIsNoKeyAndDoesNotSwallowTheNext(text: String) {
        var parser = KeyParser()
        #expect(parser.take(Array(text.utf8)).isEmpty)
        #expect(parser.timeOut() == nil)
        #expect(parser.take(Array("q".utf8)) == [.character("q")])
        #expect(parser.timeOut() == nil)
    }

    @Test func aPasteWhoseEndIsLostTakesNotAllThatFollows() {
        var parser = KeyParser()
        #expect(parser.take(Array("\u{1B}[200~abc".utf8)).isEmpty && parser.patience == .seconds(5))
        #expect(parser.timeOut() == .paste("abc"))
        #expect(parser.take(Array("q".utf8)) == [.character("q")])
    }

    @Test func bytesThatAreNoTextAreNoKeys() {
        var parser = KeyParser()
        #expect(parser.take([0xFF, 0xC3, 0x28, 0x80, 0xE2, 0x82, 0x71]) == [.character("("), .character("q")])
    }

    @Test func aPasteHasALimit() {
        var parser = KeyParser()
        let much = String(repeating: "x", count: KeyParser.maximumPaste + 100)
        let keys = parser.take(Array("\u{1B}[200~\(much)\u{1B}[201~q".utf8))
        #expect(keys == [.paste(String(much.prefix(KeyParser.maximumPaste))), .character("q")])
    }
}

/// A line that is typed.
@Suite(.timeLimit(.minutes(1)))
struct LineEditorTests {
    private func edited(_ text: String, _ keys: [Key]) -> LineEditor {
        var editor = LineEditor(text)
        for key in keys { _ = editor.take(key) }
        return editor
    }

    @Test(arguments: [
        ("ab", [Key.character("c")], "abc"), ("ab", [.left, .character("x")], "axb"), ("ab", [.backspace], "a"),
        ("ab", [.home, .delete], "b"), ("ab", [.home, .character("x"), .end, .character("y")], "xaby"),
        ("a b", [.control("w")], "a "), ("ab", [.left, .control("u")], "b"), ("ab", [.left, .control("k")], "a"),
        ("", [.backspace, .delete, .left, .right, .control("w")], ""), ("日👍🏽", [.backspace], "日"),
        ("a", [.paste("b\r\nc\n")], "ab\r\nc"),
    ])
    func keysEditIt(text: String, keys: [Key], result: String) {
        #expect(Array(edited(text, keys).text.utf8) == Array(result.utf8))
    }

    @Test func keysWithoutAMeaningAreLeftToOthers() {
        var editor = LineEditor("a")
        for key in [Key.enter, .escape, .tab, .backTab, .up, .down, .pageUp, .pageDown, .control("d")] {
            let hasMeaning = editor.take(key)
            #expect(!hasMeaning)
        }
        #expect(editor.text == "a")
    }

    @Test func aLongLineShowsThePartAroundTheCursor() {
        let editor = LineEditor("0123456789")
        #expect(editor.shown(inColumns: 5).text.plain == "6789" && editor.shown(inColumns: 5).cursor == 4)
        let start = edited("0123456789", [.home]).shown(inColumns: 5)
        #expect(start.text.plain == "01234" && start.cursor == 0)
        let wide = LineEditor("日本語").shown(inColumns: 4)
        #expect(wide.text.plain == "語" && wide.cursor == 2)
    }

    @Test func aPasswordIsNeverSeen() {
        var editor = LineEditor("s", isSecret: true)
        _ = editor.take(.paste("ecret:€"))
        #expect(editor.text == "secret:€")
        #expect(editor.shown(inColumns: 40).text.plain == "••••••••")
    }

    @Test func whatATerminalWouldObeyIsKeptButNotShown() {
        let editor = edited("", [.paste("a\u{1B}[2J\r\nb")])
        #expect(editor.text == "a\u{1B}[2J\r\nb")
        #expect(!editor.shown(inColumns: 40).text.plain.contains { $0 == "\u{1B}" || $0.isNewline })
    }
}
