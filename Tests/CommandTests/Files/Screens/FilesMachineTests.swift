// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

/// What keys and answers lead to, without a terminal and without a server.
@Suite(.timeLimit(.minutes(1)))
struct FilesMachineTests {
    private let pictures = anItem(1, "Pictures", folder: true)
    private let notes = anItem(2, "notes.txt", type: "text/plain; charset=utf-8")
    private let cat = anItem(3, "cat.png", type: "image/png")
    private let data = anItem(4, "data.bin", type: "application/zip")
    private var root: Item { ScreenDriver.user.root }

    @Test func loginAsksForAllThreeAndNeverShowsThePassword() {
        var driver = ScreenDriver()
        #expect(driver.lines[0] == "Log in to a file server")
        #expect(driver.help == "enter log in  tab next field  esc quit")
        driver.press(.enter)
        #expect(driver.status == "✗ Server, user and password are all required." && driver.running == nil)
        driver.type("https://files.example")
        driver.press(.enter)
        driver.press(.paste("me\n"), .tab)
        driver.type("se:cret")
        #expect(!driver.screen.contains("se:cret") && driver.screen.contains("•••••••"))
        driver.press(.tab, .character(" "), .enter)
        var fields = ScreenDriver.fields
        fields.keeps = true
        #expect(driver.running == .logIn(fields))
        #expect(driver.status == "⠋ Logging in …")
        driver.type("x")
        #expect(driver.running == .logIn(fields))
    }

    @Test func aRefusedLoginIsSaidAndCanBeChanged() {
        var driver = ScreenDriver(ScreenDriver.fields)
        driver.fail("wrong user or password")
        #expect(driver.status == "✗ wrong user or password")
        driver.press(.backspace, .enter)
        #expect(driver.running == .logIn(LoginFields(server: "https://files.example", user: "me", password: "se:cre")))
        driver.press(.escape)
        #expect(driver.running == nil)
        driver.press(.escape)
        #expect(driver.effects.last == .quit)
    }

    @Test func aLongFailureIsShownWholeOrItsCutIsMarked() {
        let failure = "could not upload the file: " + (1...60).map { "word\($0)" }.joined(separator: " ")
        var driver = ScreenDriver.inRoot([notes])
        driver.press(.character("r"))
        driver.fail(failure)
        #expect(driver.status.split(whereSeparator: \.isWhitespace) == "✗ \(failure)".split(separator: " "))
        driver.take(.resized(TerminalSize(columns: 40, rows: 10)))
        #expect(driver.status.split(separator: "\n").count == 5 && driver.status.hasSuffix("…"))
        #expect(driver.machine.frame.lines.count == 10)
    }

    @Test func foldersAreOpenedAndLeft() {
        var driver = ScreenDriver.inRoot([pictures, notes])
        driver.press(.enter)
        #expect(driver.running == .list(path: [root, pictures]))
        #expect(driver.status == "⠋ Loading …" && driver.screen.contains("▸ Pictures/"))  // the old listing stays
        driver.list([cat])
        #expect(driver.lines[0].hasPrefix("Files › Pictures  ") && driver.chosen == "cat.png")
        driver.press(.left)
        driver.list([notes, pictures])
        #expect(driver.chosen == "Pictures")  // where one comes from
        driver.press(.backspace)
        #expect(driver.running == nil)  // the root is in no folder
    }

    @Test func aFailureKeepsTheOldListingAndOffersARetry() {
        var driver = ScreenDriver.inRoot([pictures, notes])
        driver.press(.enter)
        driver.fail("could not list the folder: the server failed (503); try again later")
        #expect(driver.status.hasPrefix("✗ could not list the folder") && driver.help.hasPrefix("r retry  "))
        #expect(driver.screen.contains("▸ Pictures/") && driver.screen.contains("notes.txt"))
        driver.press(.character("r"))
        #expect(driver.running == .list(path: [root, pictures]))
        driver.list([])
        #expect(driver.screen.contains("Nothing is in this folder.") && !driver.screen.contains("✗"))
    }

    @Test func whatIsGivenUpChangesNothingWhenItEnds() {
        var driver = ScreenDriver.inRoot([pictures, notes])
        driver.press(.enter)
        let first = driver.machine.work?.id ?? 0
        driver.press(.escape)
        #expect(driver.effects.last == .cancel(first))
        driver.take(.ended(first, .success(.listing(Listing(items: [cat], malformed: 0)))))
        #expect(driver.chosen == "Pictures")
        driver.press(.enter, .character("r"))  // another one takes its place
        #expect(driver.effects.contains(.cancel(first + 1)) && driver.running == .list(path: [root]))
    }

    @Test func aNewFolderIsNamedMadeAndChosen() {
        var driver = ScreenDriver.inRoot([pictures])
        driver.press(.character("n"))
        #expect(driver.help == "enter go  esc cancel" && driver.machine.frame.cursor?.column == 12)
        driver.press(.enter)  // a name is needed
        driver.type("qd é")
        #expect(driver.status == "New folder: qd é")
        driver.press(.enter)
        #expect(driver.running == .makeFolder(named: "qd é", in: root))
        let made = anItem(7, "qd é", folder: true)
        driver.succeed(.created(made))
        #expect(driver.status == "✓ qd é is there." && driver.running == .list(path: [root]))
        driver.list([pictures, made])
        #expect(driver.chosen == "qd é" && driver.status == "✓ qd é is there.")
    }

    @Test func aNameGoesToTheServerAsItWasTyped() {
        var driver = ScreenDriver.inRoot([])
        driver.press(.character("n"), .paste("a\r\nX: b"), .enter)
        #expect(driver.running == .makeFolder(named: "a\r\nX: b", in: root))
        driver.fail("could not make the folder: the server refuses it (400)")
        #expect(driver.help.hasPrefix("r retry"))
    }

    @Test func anUploadShowsItsProgressAndIsCancelledWithEscape() {
        var driver = ScreenDriver.inRoot([])
        driver.press(.character("u"))
        driver.type("~/big.iso")
        driver.press(.enter)
        let id = driver.machine.work?.id ?? 0
        #expect(driver.running == .upload(path: "~/big.iso", to: root))
        driver.take(.turn(Transferred(done: 500_000, expected: 2_000_000)))
        #expect(driver.status.contains("Uploading ~/big.iso") && driver.status.contains("25 %"))
        #expect(driver.status.contains("500 kB of 2.0 MB") && driver.help == "esc cancel  q quit  ? keys")
        driver.press(.character("n"), .character("l"), .enter)  // nothing ends it by the way
        #expect(driver.machine.work?.id == id && driver.machine.prompt == nil)
        driver.press(.escape)
        #expect(driver.effects.contains(.cancel(id)) && driver.status == "✓ Cancelled: Uploading ~/big.iso")
        #expect(driver.running == .list(path: [root]))
    }

    @Test func quittingWhileSomethingIsSentIsAskedFirst() {
        var driver = ScreenDriver.inRoot([])
        driver.press(.character("u"), .paste("a"), .enter, .character("q"))
        #expect(driver.status.hasSuffix("Quit? y/n"))
        driver.press(.character("n"))
        #expect(driver.running != nil && !driver.effects.contains(.quit))
        driver.press(.control("d"), .character("y"))
        #expect(driver.effects.last == .quit)
    }

    @Test func deletingIsAskedFirst() {
        var driver = ScreenDriver.inRoot([pictures, notes])
        driver.press(.character("d"))
        #expect(driver.status == "Delete “Pictures” with all that is in it? y/n")
        driver.press(.enter)
        #expect(driver.running == nil)
        driver.press(.character("n"))
        #expect(driver.machine.prompt == nil && driver.running == nil)
        driver.press(.down, .delete)
        #expect(driver.status == "Delete “notes.txt”? y/n")
        driver.press(.character("y"))
        #expect(driver.running == .delete(notes))
        driver.succeed(.done)
        driver.fail("could not list the folder")  // the fresh listing: its failure is told
        #expect(driver.status == "✗ could not list the folder" && driver.screen.contains("Pictures/"))
        driver.press(.character("r"))
        driver.list([pictures])
        #expect(!driver.screen.contains("notes.txt"))
    }

    @Test func textIsReadAndScrolled() {
        var driver = ScreenDriver.inRoot([notes], rows: 14)
        driver.press(.enter)
        #expect(driver.running == .read(notes))
        let text = (1...25).map { "line \($0)" }.joined(separator: "\n")
        driver.succeed(.content(FileContent(Array(text.utf8), of: notes), nil))
        #expect(driver.lines[2] == "line 1" && driver.lines[11] == "line 10" && driver.status == "25 lines, 40 %")
        driver.press(.down)
        #expect(driver.lines[2] == "line 2")
        driver.press(.end)
        #expect(driver.lines[11] == "line 25" && driver.status == "25 lines, 100 %")
        driver.press(.pageDown, .pageUp)
        #expect(driver.lines[2] == "line 7")
        driver.press(.home)
        #expect(driver.lines[2] == "line 1")
        driver.press(.escape)
        #expect(driver.chosen == "notes.txt" && driver.machine.screen == .folder)
    }

    @Test func whatIsReadAgainStaysAtItsPlaceUntilItIsThere() {
        var driver = ScreenDriver.inRoot([notes], rows: 14)
        driver.press(.enter)
        let text = (1...25).map { "line \($0)" }.joined(separator: "\n")
        driver.succeed(.content(FileContent(Array(text.utf8), of: notes), nil))
        driver.press(.down, .down, .character("r"))
        #expect(driver.running == .read(notes) && driver.lines[2] == "line 3")
        driver.fail("could not read the file: no connection")
        #expect(driver.status.hasPrefix("✗ could not read the file") && driver.screen.contains("line 3\n"))
        driver.press(.character("r"))
        driver.succeed(.content(FileContent(Array(text.replacing("line", with: "row").utf8), of: notes), nil))
        #expect(driver.lines[2] == "row 3" && !driver.screen.contains("✗"))
        driver.press(.character("r"))
        driver.succeed(.content(FileContent(Array("short".utf8), of: notes), nil))
        #expect(driver.lines[2] == "short")
    }

    @Test func aPictureThatIsReadAgainStays() {
        var driver = ScreenDriver.inRoot([cat])
        driver.press(.enter)
        driver.succeed(.content(FileContent(DemoPicture.file, of: cat), nil))
        driver.press(.character("r"))
        #expect(driver.running == .read(cat) && driver.machine.picture != nil)
        driver.fail("could not read the file: no connection")
        #expect(driver.machine.picture != nil)
    }

    @Test(arguments: [Files.jpeg, Files.gif])
    func aPictureThatIsNotDrawnSaysWhy(file: [UInt8]) {
        var driver = ScreenDriver.inRoot([cat])
        driver.press(.enter)
        driver.succeed(.content(FileContent(file, of: cat), nil))
        #expect(driver.screen.contains("picture, ") && driver.screen.contains("Save it to a file to see it elsewhere."))
        #if Pictures
        #expect(driver.screen.contains("Only PNG is drawn."))
        #endif
    }

    @Test func whatCannotBeShownSaysWhy() {
        var driver = ScreenDriver.inRoot([notes, cat, data])
        driver.press(.enter)
        driver.succeed(.content(FileContent([0x66, 0xFF], of: notes), nil))
        #expect(driver.screen.contains("This text is not in UTF-8.") && driver.screen.contains("text/plain"))
        driver.press(.left, .down, .enter)
        driver.succeed(.content(FileContent(Array("<html>".utf8), of: cat), nil))
        #expect(driver.screen.contains("This picture cannot be shown"))
        driver.press(.left, .down, .enter)
        #expect(driver.running == nil)  // nothing of it is read
        #expect(driver.screen.contains("application/zip") && driver.screen.contains("3 bytes"))
        driver.press(.character("s"))
        #expect(driver.status == "Save as: data.bin")
        driver.press(.control("u"), .paste("/tmp/x"), .enter)
        #expect(driver.running == .save(data, to: "/tmp/x"))
        driver.succeed(.saved("/tmp/x"))
        #expect(driver.status == "✓ Saved as /tmp/x.")
    }

    @Test func aPictureIsShownAndDescribed() throws {
        var driver = ScreenDriver.inRoot([cat])
        driver.press(.enter)
        driver.succeed(.content(FileContent(DemoPicture.file, of: cat), nil))
        #expect(driver.machine.picture != nil && driver.screen.contains("PNG picture, 192 × 120 pixels"))
        driver.press(.character("?"))
        #expect(driver.machine.picture == nil)
    }

    @Test func aFileThatIsTooLargeIsNotRead() {
        let large = Item(
            id: itemID(5), parentID: itemID(0), name: "log", isFolder: false, modificationDate: Timestamp(seconds: 0),
            size: Int64(FileContent.maximumText) + 1, contentType: "text/plain")
        var driver = ScreenDriver.inRoot([large])
        driver.press(.enter)
        #expect(driver.running == nil && driver.screen.contains("More than 1.0 MB are not shown."))
    }

    @Test func aFileThatFailsCanBeTriedAgainAndLeft() {
        var driver = ScreenDriver.inRoot([notes])
        driver.press(.enter)
        driver.fail("could not read the file: no connection")
        #expect(driver.status.hasPrefix("✗ could not read the file"))
        driver.press(.character("r"))
        #expect(driver.running == .read(notes))
        let id = driver.machine.work?.id ?? 0
        driver.press(.escape)
        #expect(driver.effects.contains(.cancel(id)) && driver.machine.screen == .folder)
    }

    @Test func userAndKeysAreShown() {
        var driver = ScreenDriver.inRoot([notes])
        #expect(driver.lines[0].hasSuffix("Ada Lovelace"))
        driver.press(.character("i"))
        #expect(driver.screen.contains("Name    Ada Lovelace") && driver.screen.contains("User    me"))
        #expect(driver.screen.contains("https://files.example") && !driver.screen.contains("se:cret"))
        driver.press(.escape, .character("?"))
        #expect(driver.screen.contains("make a folder"))
        driver.press(.character("q"))  // any other key leads back
        #expect(!driver.effects.contains(.quit) && driver.screen.contains("notes.txt"))
        driver.press(.character("q"))
        #expect(driver.effects.last == .quit)
    }

    @Test func loggingOutForgetsAllButWhatWasTyped() {
        var driver = ScreenDriver.inRoot([notes])
        driver.press(.character("l"))
        driver.succeed(.done)
        #expect(driver.status == "✓ Logged out." && driver.machine.list == nil && driver.machine.user == nil)
        guard case .login(let form) = driver.machine.screen else {
            Issue.record("\(driver.machine.screen)")
            return
        }
        #expect(form.fields == LoginFields(server: "https://files.example", user: "me"))
    }
}

/// An item with a content type.
func anItem(_ number: Int, _ name: String, type: String) -> Item {
    Item(
        id: itemID(number), parentID: itemID(0), name: name, isFolder: false, modificationDate: Timestamp(seconds: 0),
        size: 3, contentType: type)
}
