// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

@Suite(.timeLimit(.minutes(1)))
struct TextTests {
    private func welcome(name: String?, titles: [String]) -> Text {
        Text {
            if let name, !titles.isEmpty {
                "Hello "
                Text(name).bold()
                for title in titles {
                    Text.comma
                    Text.lineBreak
                    title
                }
            } else {
                "No Title"
            }
        }
    }

    private func greeting(_ name: String) -> Text {
        Text {
            "Hello "
            Text(name).color(.red).bold()
            Text.lineBreak
        }
    }

    @Test func theExampleOfTheCommentIsOneLine() {
        #expect(greeting("Walid").plain == "Hello Walid\n")
    }

    @Test func theExampleOfTheCatalogueRendersAsItSays() {
        let titles = ["Tunisian", "iOS Developer", "work at Sephora"]
        #expect(
            welcome(name: "Walid", titles: titles).plain
                == "Hello Walid,\nTunisian,\niOS Developer,\nwork at Sephora")
        #expect(welcome(name: nil, titles: titles).plain == "No Title")
        #expect(welcome(name: "Walid", titles: []).plain == "No Title")
        var appended = Text("Hello ") + Text("Walid").bold()
        for title in titles { appended += Text(",") + Text("\n") + Text(title) }
        #expect(welcome(name: "Walid", titles: titles) == appended)
    }

    @Test func anyNumberOfComponentsNoneIncluded() {
        #expect(Text {}.plain.isEmpty && Text {}.runs.isEmpty)
        #expect(Text { "a" }.plain == "a")
        #expect(
            Text {
                "a"
                "b"
                Text("c")
            }.plain == "abc")
    }

    @Test func branchesOfEveryKindMayBeNested() {
        func branch(_ number: Int, _ name: String?) -> Text {
            Text {
                switch number {
                case 0: "zero"
                case 1: Text("one").color(.red)
                case 2...:
                    if let name {
                        "many "
                        if name.isEmpty { "nameless" } else { name }
                    }
                default:
                    if number < -9 { "less" } else if number < -4 { "few" } else { "negative" }
                }
                if #available(macOS 10, *) { "!" }
                if number == 0 { "?" }
            }
        }
        let rendered = [(0, nil), (1, nil), (2, "x"), (2, ""), (2, nil), (-1, nil), (-5, nil), (-10, nil)]
            .map { branch($0, $1).plain }
        #expect(rendered == ["zero!?", "one!", "many x!", "many nameless!", "!", "negative!", "few!", "less!"])
        #expect(branch(1, nil).ansi == "\u{1B}[31mone\u{1B}[0m!")
    }

    @Test func loopsMayBeNestedAndSkip() {
        let table = Text {
            for row in 0..<3 {
                for column in 0..<2 where row != column {
                    "\(row)\(column)"
                    Text.space
                }
                Text.lineBreak
            }
            for _ in 0..<0 { "never" }
        }
        #expect(table.plain == "01 \n10 \n20 21 \n")
    }

    @Test func stringsOptionalsAndArraysAreExpressions() {
        let (nothing, something): (String?, Text?) = (nil, Text("some"))
        let (word, none): (String?, Text?) = ("word", nil)
        let text = Text {
            nothing
            something
            word
            none
            [Text("a").bold(), Text("b")]
            ["c", "d"]
            [String]()
            nothing ?? "instead"
        }
        #expect(text.plain == "somewordabcdinstead")
    }

    @TextBuilder private func greeting(_ names: [String]) -> Text {
        for name in names { "Hello \(name)" }
        if names.isEmpty { "Nobody" }
    }

    @Test func partialBuildersCompose() {
        @TextBuilder var end: Text {
            Text.comma
            Text("bye").dim()
        }
        let whole = Text {
            greeting(["a"])
            end
            greeting([])
        }
        #expect(whole.plain == "Hello a,byeNobody")
        #expect(whole == Text("Hello a,") + Text("bye").dim() + Text("Nobody"))
    }

    @Test func modifiersCoverTheWholeRunAndTheLaterOneWins() {
        let text = Text {
            "a"
            Text("b").color(.red)
        }.color(.green).color(.blue).bold().underline().dim().background(.yellow)
        #expect(text.runs.count == 1)
        #expect(text.ansi == "\u{1B}[1;2;4;34;43mab\u{1B}[0m")
        #expect(text.rendered(withStyles: false) == "ab")
    }

    @Test func everyLookHasItsSequence() {
        let looks: [(Text, String)] = [
            (Text("x").bold(), "1"), (Text("x").dim(), "2"), (Text("x").underline(), "4"),
            (Text("x").color(.black), "30"), (Text("x").color(.white), "37"), (Text("x").background(.red), "41"),
            (Text("x").background(.cyan), "46"), (Text("x").color(.red).background(.blue).bold(), "1;31;44"),
        ]
        for (text, codes) in looks {
            #expect(text.ansi == "\u{1B}[\(codes)mx\u{1B}[0m")
            #expect(text.plain == "x")
        }
        #expect(Text("x").ansi == "x")
        #expect((Text("a") + Text("b").bold() + Text("c")).ansi == "a\u{1B}[1mb\u{1B}[0mc")
    }

    @Test func whatSuitsTheOutputIsRendered() {
        let text = Text { Text("a").color(.red) }
        #expect(text.rendered(withStyles: true) == text.ansi)
        #expect(text.rendered(withStyles: false) == "a")
    }

    @Test func noValueChangesWhatAnotherHolds() {
        let first = Text("a")
        var second = first
        second += Text("b")
        let third = second.color(.red)
        let fourth = third.color(.blue)
        var fifth = fourth
        fifth += first
        #expect(first.plain == "a")
        #expect(second.ansi == "ab")
        #expect(third.ansi == "\u{1B}[31mab\u{1B}[0m")
        #expect(fourth.ansi == "\u{1B}[34mab\u{1B}[0m")
        #expect(fifth.plain == "aba" && fourth.plain == "ab")
        let built = Text { third }
        _ = built.bold()
        #expect(built == third)
    }

    @Test func textFromAServerCannotControlTheTerminal() {
        #expect(Text("a\u{1B}[2Jb\u{07}\u{9B}31mc\rd\u{202E}e\nf\u{2028}g").plain == "a�[2Jb��31mc�d�e\nf�g")
    }

    @Test func fiftyLinesTypeCheckQuickly() {
        let text = Text {
            "1"
            Text("2").bold()
            "3"
            Text.comma
            "5"
            "6"
            Text("7").color(.red)
            "8"
            "9"
            "0"
            "1"
            Text("2").bold()
            "3"
            Text.comma
            "5"
            "6"
            Text("7").color(.red)
            "8"
            "9"
            "0"
            "1"
            Text("2").bold()
            "3"
            Text.comma
            "5"
            "6"
            Text("7").color(.red)
            "8"
            "9"
            "0"
            "1"
            Text("2").bold()
            "3"
            Text.comma
            "5"
            "6"
            Text("7").color(.red)
            "8"
            "9"
            "0"
            "1"
            Text("2").bold()
            "3"
            Text.comma
            "5"
            "6"
            Text("7").color(.red)
            "8"
            "9"
            "0"
        }
        #expect(text.plain == String(repeating: "123,567890", count: 5))
    }
}
