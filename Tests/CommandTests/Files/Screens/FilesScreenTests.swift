// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

/// How the screens look in terminals of all sizes.
@Suite(.timeLimit(.minutes(1)))
struct FilesScreenTests {
    private static let names = [
        "notes.txt", "日本語の名前とても長い名前です.txt", "👨‍👩‍👧 family.png", "e\u{301}te\u{301}.txt",
        "a name that is so long that it cannot be shown in whole on any terminal of an ordinary width.txt", "a;b'c",
    ]
    private static var items: [Item] { names.enumerated().map { anItem($0 + 1, $1) } }

    @Test func theFolderInEightyByTwentyFour() {
        let driver = ScreenDriver.inRoot([anItem(9, "Pictures", folder: true)] + Self.items)
        #expect(driver.lines.count == 24)
        let pad = String(repeating: " ", count: 80)
        #expect(driver.lines[0] == "Files" + pad.prefix(63) + "Ada Lovelace")
        #expect(driver.lines[2] == "▸ Pictures/" + pad.prefix(45) + "folder  1970-01-01 00:00")
        #expect(driver.lines[3] == "  notes.txt" + pad.prefix(44) + "3 bytes  1970-01-01 00:00")
        #expect(driver.lines[22] == "7 items")
        #expect(driver.help == "enter open  ← up  q quit  n new folder  u upload  s save  d delete  ? keys")
        driver.expectFit()
    }

    @Test func theFolderInFortyByTwelve() {
        let driver = ScreenDriver.inRoot(Self.items, columns: 40, rows: 12)
        #expect(driver.lines[2] == "▸ notes.txt                      3 bytes")
        #expect(driver.lines[3] == "  日本語の名前とても長い名前…    3 bytes")
        #expect(driver.help == "enter open  ← up  q quit  s save  ? keys")
        driver.expectFit()
    }

    @Test func wideCharactersBreakNoColumn() {
        for columns in [12, 17, 20, 35, 36, 37, 40, 59, 60, 61, 80, 99] {
            let driver = ScreenDriver.inRoot(Self.items, columns: columns, rows: 12)
            driver.expectFit()
            let widths = Set(driver.machine.frame.lines[2..<8].map(\.width))
            #expect(columns < 36 || widths == [columns], "\(columns): \(widths)")
        }
    }

    @Test func everyScreenFitsEverySize() {
        for (columns, rows) in [(80, 24), (40, 12), (20, 5), (10, 4), (3, 2), (1, 1)] {
            var driver = ScreenDriver(columns: columns, rows: rows)
            driver.expectFit()
            driver.press(.enter, .tab, .tab, .tab)
            driver.expectFit()
            driver = ScreenDriver.inRoot(Self.items, columns: columns, rows: rows)
            for key in "nuds?i" {
                driver.press(.character(key))
                driver.press(.paste("a long answer that has no room 日本語"))
                driver.expectFit()
                driver.press(.escape, .escape)
            }
            driver.press(.character("r"))
            driver.fail("a long message: " + String(repeating: "words ", count: 50))
            driver.expectFit()
            driver.press(.character("u"), .paste("x"), .enter)
            driver.take(.turn(Transferred(done: 1, expected: 2)))
            driver.expectFit()
        }
    }

    @Test func inOneRowItIsTheQuestionThatIsSeen() {
        var driver = ScreenDriver.inRoot(Self.items, columns: 40, rows: 1)
        driver.press(.character("d"))
        #expect(driver.lines == ["Delete “notes.txt”? y/n"])
        driver.press(.escape, .character("n"), .paste("x"))
        #expect(driver.lines == ["New folder: x"] && driver.machine.frame.cursor == .init(row: 0, column: 13))
    }

    @Test func aSizeThatChangesKeepsWhatIsChosenInSight() {
        var driver = ScreenDriver.inRoot((1...100).map { anItem($0, "file \($0)") })
        driver.press(.end)
        #expect(driver.lines[21].hasPrefix("▸ file 100"))
        driver.press(.pageUp)
        #expect(driver.chosen == "file 80")
        for rows in [12, 5, 24, 9] {
            driver.take(.resized(TerminalSize(columns: 40, rows: rows)))
            #expect(driver.screen.contains("▸ file 80"), "\(rows)")
        }
        driver.press(.home)
        #expect(driver.screen.contains("▸ file 1 "))
    }

    @Test func aLongPathShowsItsEnd() {
        var driver = ScreenDriver.inRoot([anItem(1, "first folder", folder: true)], columns: 40, rows: 12)
        driver.press(.enter)
        driver.list([anItem(2, "second folder", folder: true)])
        driver.press(.enter)
        driver.list([])
        #expect(driver.lines[0].hasPrefix("… › second folder ") && driver.lines[0].hasSuffix("Ada Lovelace"))
    }

    @Test func aNameCannotControlTheTerminal() {
        var driver = ScreenDriver.inRoot([])
        let evil = User(firstName: "\u{1B}[2J\n", lastName: "x", root: ScreenDriver.user.root)
        driver = ScreenDriver(ScreenDriver.fields)
        driver.succeed(.loggedIn(evil, note: nil))
        driver.list([])
        driver.press(.character("n"), .paste("\u{1B}]0;x\u{07}\n\ny"))
        for _ in 0..<3 {
            #expect(!driver.screen.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{07}" })
            driver.expectFit()
            driver.press(.enter)
            driver.fail("no\u{1B}[2J\nway")
        }
    }

    @Test func whatCannotBeReadOfAListingIsSaid() {
        var driver = ScreenDriver.inRoot([])
        driver.press(.character("r"))
        driver.list([anItem(1, "a")], malformed: 2)
        #expect(driver.status == "1 item, and 2 that cannot be read")
    }
}

/// A text, page by page.
@Suite(.timeLimit(.minutes(1)))
struct TextPagesTests {
    private let size = TerminalSize(columns: 8, rows: 3)

    private func rows(_ pages: TextPages) -> [String] { pages.rows(in: size).map(\.plain) }

    @Test func linesAreBrokenAndTabsExpanded() {
        #expect(rows(TextPages("a\tb\r\nlonger line\n")) == ["a       ", "b", "longer "])
        #expect(rows(TextPages("\u{FEFF}日本語日本語")) == ["日本語日", "本語"])
        #expect(rows(TextPages("a\u{1B}[2J\u{07}")) == ["a�[2J�"])
        #expect(TextPages("").isEmpty && TextPages("\n").lineCount == 1)
    }

    @Test func whatIsReplacedHasItsColumns() {
        #expect(rows(TextPages("\u{1B}[31mred\u{1B}[0m\rend")) == ["�[31mred", "�[0m�end"])
        #expect(rows(TextPages("\u{202E}\ta\r\n\rb")) == ["�       ", "a", "�b"])
    }

    @Test func scrollingStaysWithinTheText() {
        var pages = TextPages("1\nlonger line\n3\n4\n5")
        pages.scroll(by: -1, in: size)
        #expect(rows(pages) == ["1", "longer ", "line"] && pages.percent(in: size) == 40)
        pages.scroll(by: 2, in: size)
        #expect(rows(pages) == ["line", "3", "4"])
        pages.scroll(by: 100, in: size)
        #expect(rows(pages) == ["3", "4", "5"] && pages.percent(in: size) == 100)
        pages.scroll(by: -1, in: size)
        #expect(rows(pages) == ["line", "3", "4"])
        pages.scrollToStart()
        #expect(rows(pages)[0] == "1")
        pages.scrollToEnd(in: size)
        #expect(rows(pages) == ["3", "4", "5"])
        var short = TextPages("a")
        short.scroll(by: 5, in: size)
        #expect(rows(short) == ["a"])
    }

    @Test func aTextOfOneLineIsReadAsWell() {
        var pages = TextPages(String(repeating: "0123456789", count: 500))
        #expect(pages.lineCount == 1)
        pages.scrollToEnd(in: size)
        #expect(rows(pages).joined().hasSuffix("0123456789") && rows(pages).count == 3)
    }

    @Test func anotherWidthShowsTheSamePlace() {
        var pages = TextPages(String(repeating: "abcdefgh", count: 10) + "\nend")
        pages.scroll(by: 5, in: size)
        let wide = TerminalSize(columns: 100, rows: 3)
        pages.scroll(by: 0, in: wide)
        #expect(pages.rows(in: wide).map(\.plain).last == "end")
    }
}
