// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

/// What the screens tell of work without the server.
@Suite(.timeLimit(.minutes(1)))
struct OfflineScreenTests {
    private let notes = anItem(2, "notes.txt", type: "text/plain")
    private let stored = StoredAnswer(age: .seconds(320), reason: "no network")
    private var root: Item { ScreenDriver.user.root }

    private func change(
        _ item: Item, _ kind: PendingChange.Kind = .upload, _ state: PendingChange.State = .waiting(problem: nil)
    ) -> PendingChange {
        PendingChange(
            id: Int64(item.name.count), kind: kind, item: item, path: RemotePath("/\(item.name)"), state: state,
            date: Timestamp(seconds: 0))
    }

    private func driver(_ changes: [PendingChange], source: AnswerSource? = nil) -> ScreenDriver {
        var driver = ScreenDriver.inRoot([])
        driver.press(.character("r"))
        driver.succeed(
            .listing(
                Listing(
                    items: [notes] + changes.filter(\.makesItem).map(\.item), malformed: 0,
                    source: source ?? .store(stored),
                    changes: changes)))
        return driver
    }

    @Test func aStoredListingTellsItsAge() {
        let driver = driver([])
        #expect(driver.lines[0].hasSuffix("  stored, 5 min old"))
        #expect(driver.status == "Stored, 5 min old: no network")
        driver.expectFit()
    }

    @Test(arguments: [
        (Duration.seconds(5), "5 s old"), (.seconds(3599), "59 min old"), (.seconds(7200), "2 h old"),
        (.seconds(400_000), "4 days old"), (.seconds(-5), "0 s old"), (nil, "of unknown age"),
    ])
    func agesAreSaidInWords(age: Duration?, words: String) {
        #expect(StoredAnswer(age: age, reason: "").ageInWords == words)
    }

    @Test func whatWaitsIsMarked() {
        let upload = change(anItem(3, "new.txt"))
        let folder = change(anItem(4, "folder", folder: true), .newFolder, .sending)
        var driver = driver([upload, folder, change(notes, .deletion)])
        #expect(driver.lines[2].hasPrefix("▸ - notes.txt") && driver.lines[2].hasSuffix(" to be deleted"))
        #expect(driver.lines[3].hasPrefix("  + new.txt") && driver.lines[3].hasSuffix("  waits"))
        #expect(driver.lines[4].hasPrefix("  ↑ folder/") && driver.lines[4].hasSuffix(" being sent"))
        #expect(driver.status == "The deletion waits until the server can be reached.")
        driver.expectFit()
        driver.take(.resized(TerminalSize(columns: 20, rows: 6)))
        #expect(driver.screen.contains("▸ - notes.txt"))
        driver.expectFit()
    }

    @Test func aConflictIsShownAndTriedAgainOrDiscarded() {
        let conflict = change(anItem(3, "new.txt"), .upload, .conflict(reason: "the name is taken"))
        var driver = driver([conflict], source: .server)
        driver.press(.down)
        #expect(driver.status == "The upload is refused: the name is taken")
        #expect(driver.lines[3].hasPrefix("▸ ! new.txt") && driver.help.hasPrefix("t try again  x discard  "))
        driver.press(.character("t"))
        #expect(driver.running == .retry(conflict))
        driver.succeed(.done)
        #expect(driver.running == .list(path: [root]) && driver.effects.contains(.send))
        driver.succeed(.listing(Listing(items: [notes, conflict.item], malformed: 0, changes: [conflict])))
        driver.press(.end, .character("x"))
        #expect(
            driver.status == "Discard the upload of “new.txt”? Its copy here goes as well. y/n" && driver.running == nil
        )
        driver.press(.character("y"))
        #expect(driver.running == .discard(conflict))
        driver.fail("it is being sent")
        #expect(driver.status == "✗ it is being sent")
    }

    @Test func whatIsKeptForLaterIsSaidToWait() {
        var driver = driver([])
        let new = anItem(3, "new.txt")
        driver.press(.character("u"), .paste("new.txt"), .enter)
        driver.succeed(.created(new))
        driver.succeed(.listing(Listing(items: [notes, new], malformed: 0, changes: [change(new)])))
        #expect(driver.chosen == "new.txt" && driver.status == "✓ new.txt waits until the server can be reached.")
    }

    @Test func whatBecomesOfChangesRefreshesTheFolder() {
        let upload = change(anItem(3, "new.txt"))
        var driver = driver([upload])
        driver.take(.pending([upload]))
        #expect(driver.running == .list(path: [root]) && driver.machine.work?.manner == .unasked)
        driver.take(.pending([]))  // while the listing is under way
        driver.list([notes])
        #expect(driver.running != nil)  // so that what is seen is what is so
        driver.list([notes])
        driver.take(.pending([]))
        #expect(driver.running == nil)
    }

    @Test func aReloadThatIsGivenUpIsMadeLater() {
        for leavesEarly in [false, true] {
            var driver = driver([])
            driver.take(.pending([change(anItem(3, "new.txt"))]))
            #expect(driver.running == .list(path: [root]) && driver.machine.work?.manner == .unasked)
            driver.press(.enter)
            #expect(driver.running == .read(notes))
            if leavesEarly {
                driver.press(.left)
            } else {
                driver.succeed(.content(FileContent([], of: notes), nil))
            }
            #expect(driver.running == .list(path: [root]) && driver.machine.work?.manner == .unasked)
            driver.list([notes])
            #expect(driver.running == nil)
        }
    }

    @Test func aReloadLeavesTheFailureOfAnotherFolder() {
        let folder = anItem(5, "folder", folder: true)
        var driver = ScreenDriver.inRoot([folder])
        driver.take(.pending([change(anItem(3, "new.txt"))]))
        driver.press(.enter)
        driver.fail("no such folder")
        #expect(driver.running == .list(path: [root]))
        driver.list([folder])
        #expect(driver.status == "✗ no such folder")
        driver.press(.escape, .character("r"))
        driver.fail("no network")
        driver.take(.network(false))
        driver.take(.network(true))
        driver.list([folder])
        #expect(driver.running == nil && !driver.status.contains("no network"))
    }

    @Test func aReloadThatIsGivenUpForTheSameIsMadeOnce() {
        var driver = driver([])
        driver.take(.pending([change(anItem(3, "new.txt"))]))
        driver.press(.character("r"))
        #expect(driver.running == .list(path: [root]) && driver.machine.work?.manner == .asked)
        driver.list([notes])
        #expect(driver.running == nil)
    }

    @Test func aStoredFileTellsItsAge() {
        var driver = driver([])
        driver.press(.enter)
        driver.succeed(.content(FileContent(Array("old".utf8), of: notes), stored))
        #expect(driver.lines[0].hasSuffix("  stored, 5 min old") && driver.lines[2] == "old")
    }

    @Test func theNetworkThatComesBackIsNotForgottenWhileSomethingGoesOn() {
        var driver = driver([change(anItem(3, "new.txt"))])
        driver.take(.network(false))
        driver.press(.enter)
        let before = driver.effects.count
        driver.take(.network(true))
        #expect(driver.effects.dropFirst(before).elementsEqual([.send]) && driver.running == .read(notes))
        driver.succeed(.content(FileContent([], of: notes), nil))
        #expect(driver.running == .list(path: [root]) && driver.machine.work?.manner == .unasked)
    }

    @Test func aLoginThatIsNotCheckedIsSaidToBe() {
        var driver = ScreenDriver(ScreenDriver.fields)
        driver.succeed(.loggedIn(ScreenDriver.user, note: "the password is not checked"))
        driver.list([notes])
        #expect(driver.status == "✗ the password is not checked" && driver.chosen == "notes.txt")
    }
}
