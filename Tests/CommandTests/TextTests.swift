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

    @Test func theBuilderTakesWhatScreensConsistOf() {
        let (nothing, something): (String?, Text?) = (nil, Text("some"))
        func branch(_ number: Int) -> Text {
            Text {
                switch number {
                case 0: "zero"
                case 1: Text("one").color(.red)
                default: ["m", "any"]
                }
                if #available(macOS 10, *) { "!" }
            }
        }
        #expect(Text {}.plain.isEmpty)
        #expect([0, 1, 2].map { branch($0).plain } == ["zero!", "one!", "many!"])
        let mixed = Text {
            nothing
            something
            [Text("a"), Text("b")]
            for row in 0..<2 { for column in 0..<2 where row != column { "\(row)\(column)" } }
        }
        #expect(mixed.plain == "someab0110")
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

    @Test func noValueChangesWhatAnotherHolds() {
        let first = Text("a")
        var second = first
        second += Text("b")
        let third = second.color(.red)
        #expect(first.plain == "a")
        #expect(second.ansi == "ab")
        #expect(third.ansi == "\u{1B}[31mab\u{1B}[0m")
    }

    @Test(arguments: [
        ("abc", 3), ("e\u{301}", 1), ("日本", 4), ("👍🏽", 2), ("👨‍👩‍👧", 2), ("❤️", 2), ("a\nlonger", 6), ("", 0), ("│─", 2),
    ])
    func widthCountsColumns(text: String, columns: Int) { #expect(Text(text).width == columns) }

    @Test func textFromAServerCannotControlTheTerminal() {
        #expect(Text("a\u{1B}[2Jb\u{07}\u{9B}31mc\rd\u{202E}e\nf").plain == "a�[2Jb��31mc�d�e\nf")
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
