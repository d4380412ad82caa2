// SPDX-License-Identifier: Apache-2.0
import Testing
import UplinkCore

@testable import UplinkCommand

/// What an error means for a change, and what is told of it; without I/O.
@Suite(.timeLimit(.minutes(1)))
struct SendingAnswerTests {
    private static func answer(_ code: FilesError.Code, _ kind: PendingChange.Kind) -> String {
        switch SendingAnswer(FilesError(code, "reason"), to: kind) {
        case .done: "done"
        case .again: "again"
        case .conflict: "conflict"
        case .look: "look"
        }
    }

    @Test(arguments: [
        (FilesError.Code.wrongUserOrPassword, "again again again"), (.unreachable, "again again again"),
        (.serverFailed, "again again again"), (.unexpectedAnswer, "again again again"), (.busy, "again again again"),
        (.refused, "look look conflict"), (.notFound, "conflict conflict done"),
        (.localFile, "conflict conflict conflict"),
    ])
    func anErrorIsForLaterOrForSomebodyToDecide(code: FilesError.Code, answers: String) {
        let kinds = [PendingChange.Kind.upload, .newFolder, .deletion]
        #expect(kinds.map { Self.answer(code, $0) }.joined(separator: " ") == answers)
    }

    @Test(arguments: [
        (413, "conflict"), (409, "conflict"), (429, "again"), (408, "again"), (302, "again"), (401, "again"),
        (503, "again"), (400, "look"), (404, "conflict"),
    ])
    func aStatusThatWillNotChangeIsAConflict(status: Int, answer: String) {
        let error = FilesError(status: status, while: "upload the file")
        let words = "\(SendingAnswer(error, to: .upload))".prefix { $0.isLetter }
        #expect(words == answer)
    }

    @Test func aTwinHasTheNameTheKindAndTheSize() {
        let (file, folder) = (anItem(1, "a"), anItem(2, "a", folder: true))
        #expect(SendingAnswer.twin(file, among: [folder, anItem(3, "b")]) == nil)
        #expect(SendingAnswer.twin(file, among: [folder, anItem(3, "a")])?.id == itemID(3))
        #expect(SendingAnswer.twin(folder, among: [file, anItem(4, "a", folder: true)])?.id == itemID(4))
        let larger = Item(
            id: itemID(5), parentID: nil, name: "a", isFolder: false, modificationDate: Timestamp(seconds: 0), size: 4,
            contentType: nil)
        #expect(SendingAnswer.twin(file, among: [larger]) == nil)
    }

    @Test func aTwinWithTheVeryNameIsTakenBeforeOneWithAnotherForm() {
        let (own, other) = (anItem(1, "\u{e9}", folder: true), anItem(2, "e\u{301}", folder: true))
        for items in [[own, other], [other, own]] {
            #expect(SendingAnswer.twin(own, among: items)?.id == itemID(1))
            #expect(SendingAnswer.twin(other, among: items)?.id == itemID(2))
        }
        #expect(SendingAnswer.twin(own, among: [other])?.id == itemID(2))
    }

    @Test(arguments: [
        (0, "0 seconds ago"), (1, "1 second ago"), (59, "59 seconds ago"), (60, "1 minute ago"), (7199, "1 hour ago"),
        (7200, "2 hours ago"), (86_400, "1 day ago"), (864_000, "10 days ago"),
    ])
    func anAgeIsForPeople(seconds: Int, words: String) {
        #expect(OfflineNotes.age(.seconds(seconds)) == words)
        #expect(OfflineNotes.age(nil) == "an unknown time ago")
    }

    @Test func aListingMarksWhatIsToBecomeOfItsItems() throws {
        func change(_ id: Int64, _ kind: PendingChange.Kind, _ item: Item, _ state: PendingChange.State)
            -> PendingChange
        {
            PendingChange(
                id: id, kind: kind, item: item, path: RemotePath("/\(item.name)"), state: state,
                date: Timestamp(seconds: 0))
        }
        let items = [anItem(1, "a", folder: true), anItem(2, "b"), anItem(3, "c"), anItem(4, "d")]
        let changes = [
            change(7, .newFolder, items[0], .waiting(problem: nil)), change(8, .deletion, items[1], .sending),
            change(10, .upload, items[2], .conflict(reason: "taken\u{1B}")),
        ]
        let listing = Listing(items: items, malformed: 0, changes: changes)
        #expect(
            FilesOutput.lines(listing) == """
                 folder  1970-01-01 00:00  a/  (to be made)
                3 bytes  1970-01-01 00:00  b  (to be deleted)
                3 bytes  1970-01-01 00:00  c  (conflict, number 10)
                3 bytes  1970-01-01 00:00  d

                """)
        #expect(
            FilesOutput.lines(changes) == """
                 7  waiting  1970-01-01 00:00  new folder /a
                 8  sending  1970-01-01 00:00  deletion of /b
                10  conflict  1970-01-01 00:00  upload of /c: taken\u{FFFD}

                """)
        let json = String(
            decoding: try FilesJSON.encode(ListedItem(item: items[0], change: changes[0])), as: UTF8.self)
        #expect(json.contains(#""pending":{"id":7,"kind":"newFolder","state":"waiting"}"#))
        #expect(json.contains(#""name":"a""#))
        let plain = try FilesJSON.encode(ListedItem(item: items[3], change: nil))
        #expect(String(decoding: plain, as: UTF8.self).contains(#""pending":null"#))
    }

    @Test func theAgeOfWhatIsShownLastIsToldOnceAndNotWhereSomethingWaits() {
        let written = Locked("")
        func told(_ news: [OfflineNews]) -> String {
            written.withLock { $0 = "" }
            let notes = OfflineNotes { text in written.withLock { $0 += text } }
            for news in news { notes.tell(news) }
            notes.end()
            return written.withLock { $0 }
        }
        let stored = [60, 5].map { OfflineNews.stored(StoredAnswer(age: .seconds($0), reason: "cut\n")) }
        #expect(told(stored) == "As of 5 seconds ago, since the server was not reached: cut\u{FFFD}\n")
        let change = PendingChange(
            id: 3, kind: .deletion, item: anItem(1, "a"), path: RemotePath("/a"), state: .waiting(problem: "cut"),
            date: Timestamp(seconds: 0))
        #expect(
            told(stored + [.waits(change)])
                == "Waits to be sent: deletion of /a, number 3 (cut); `uplink files sync` sends it.\n")
    }
}
