// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

/// The server's decisions, without I/O.
@Suite(.timeLimit(.minutes(1)))
struct FileTreeTests {
    private var tree = FileTree(rootDate: Timestamp(seconds: 0))
    private let date = Timestamp(seconds: 1)

    @Test mutating func namesAreCheckedAndTakenOnce() throws {
        let file = try tree.add(named: "cat.png", in: tree.rootID, date: date, size: 0)
        #expect(file.size == 0 && file.contentType == "image/png" && file.parentID == tree.rootID)
        for name in ["cat.png", "", "a/b", "a\r\nb", "..", String(repeating: "é", count: 128)] {
            #expect(throws: ServiceError.self, "\(name)") { try tree.check(name, in: tree.rootID) }
        }
        try tree.check("Cat.png", in: tree.rootID)
        #expect(throws: ServiceError.self) { try tree.check("new", in: file.id) }
        #expect(throws: ServiceError.notFound) { try tree.check("new", in: itemID(1)) }
    }

    @Test mutating func aFolderGoesWithWhatIsInIt() throws {
        let folder = try tree.add(named: "a", in: tree.rootID, date: date, size: nil)
        let inner = try tree.add(named: "b", in: folder.id, date: date, size: nil)
        let file = try tree.add(named: "c", in: inner.id, date: date, size: 1)
        let other = try tree.add(named: "d", in: tree.rootID, date: date, size: 1)
        #expect(tree.path(of: file.id) == ["a", "b", "c"])
        tree.remove(folder)  // not while there is something in it
        let gone = try tree.subtree(of: folder.id)
        #expect(gone == [file, inner, folder])
        for item in gone { tree.remove(item) }
        #expect(try tree.items(in: tree.rootID) == [other])
        #expect(throws: ServiceError.notFound) { try tree.item(file.id) }
    }

    @Test func theRootStays() {
        #expect(throws: ServiceError.badRequest("the root cannot be deleted")) { try tree.subtree(of: tree.rootID) }
    }

    @Test mutating func anIdIsTheSameForTheSamePath() throws {
        let file = try tree.add(named: "a", in: tree.rootID, date: date, size: 1)
        var again = FileTree(rootDate: date)
        #expect(try again.add(named: "a", in: again.rootID, date: date, size: 9).id == file.id)
        #expect(again.rootID == tree.rootID && file.id != tree.rootID)
    }

    @Test func callsAreKnownByMethodAndPath() throws {
        let id = itemID(7)
        #expect(try FilesCall("GET", "/me") == .user)
        #expect(try FilesCall("GET", "/items/\(id)") == .list(id))
        #expect(try FilesCall("GET", "/items/\(id)/data") == .data(id))
        #expect(try FilesCall("POST", "/items/\(id)") == .create(in: id))
        #expect(try FilesCall("DELETE", "/items/\(id)") == .delete(id))
        for path in ["/", "", "/items", "/items/7", "/items/\(id)/", "/items/\(id)/data/x", "/me/", "/items/../me"] {
            #expect(throws: ServiceError.notFound, "\(path)") { try FilesCall("GET", path) }
        }
        #expect(try FilesCall("HEAD", "/items/\(id)/data") == .data(id))
        #expect(throws: ServiceError.methodNotAllowed("GET, HEAD, POST, DELETE")) {
            try FilesCall("PUT", "/items/\(id)")
        }
        #expect(throws: ServiceError.methodNotAllowed("GET, HEAD")) { try FilesCall("POST", "/me") }
    }

    @Test func faultsComeAsOrdered() {
        var faults = Faults(failEvery: 2, dropEvery: 3)
        #expect((0..<6).map { _ in faults.next() } == [.none, .fail, .drop, .fail, .none, .drop])
    }

    @Test mutating func twoFormsOfAnAccentAreTwoNames() throws {
        let names = ["\u{e9}", "e\u{301}"]
        for name in names { _ = try tree.add(named: name, in: tree.rootID, date: date, size: 1) }
        #expect(try Set(tree.items(in: tree.rootID).map { Array($0.name.utf8) }) == Set(names.map { Array($0.utf8) }))
        #expect(throws: ServiceError.self) { try tree.check(names[0], in: tree.rootID) }
    }
}
