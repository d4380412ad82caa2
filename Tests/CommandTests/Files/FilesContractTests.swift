// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkCommand

/// An id that ends in a number.
func itemID(_ number: Int) -> ItemID {
    let digits = String(number, radix: 16)
    guard let id = ItemID(String(repeating: "0", count: 40 - digits.count) + digits) else { preconditionFailure() }
    return id
}

/// An item for a test.
func anItem(_ number: Int, _ name: String, folder: Bool = false, in parent: ItemID? = itemID(0)) -> Item {
    Item(
        id: itemID(number), parentID: parent, name: name, isFolder: folder, modificationDate: Timestamp(seconds: 0),
        size: folder ? nil : 3, contentType: nil)
}

/// What is read of a server's JSON, and what is made of it.
@Suite(.timeLimit(.minutes(1)))
struct FilesContractTests {
    private static let id = String(repeating: "aB", count: 20)
    private static let file = """
        {"name":"cat.png","id":"\(id)","size":7,"parentId":"\(id)","isDir":false,"contentType":"image/jpg",
         "modificationDate":"2024-01-02T03:04:05.123456789Z"}
        """
    private static let root = """
        {"id":"\(id)","parentId":"","name":"","isDir":true,"modificationDate":"2024-01-02T03:04:05Z"}
        """

    @Test func anItemIsReadInAnyOrderOfKeys() throws {
        let item = try FilesJSON.item(from: Array(Self.file.utf8))
        #expect(item.id.text == Self.id && item.parentID?.text == Self.id)
        #expect(item.name == "cat.png" && item.size == 7 && !item.isFolder && item.kind == .image)
        #expect(item.modificationDate == Timestamp(seconds: 1_704_164_645, nanoseconds: 123_456_789))
    }

    @Test func unknownKeysAndTypesAreNoMatter() throws {
        let more = Self.file.replacing("\"size\":7", with: "\"new\":{\"a\":[1]},\"size\":7,\"tags\":null")
            .replacing("image/jpg", with: "application/x-unheard-of; q=\\\"1\\\"")
        let item = try FilesJSON.item(from: Array(more.utf8))
        #expect(item.kind == .data)
    }

    @Test func aCreatedItemMayComeAsAnArrayOfOne() throws {
        let item = try FilesJSON.item(from: Array(Self.file.utf8))
        #expect(try FilesJSON.item(from: Array("[\(Self.file)]".utf8)) == item)
        for wrong in ["[]", "[\(Self.file),\(Self.file)]", "7", "{}", "", "[7]"] {
            #expect(throws: (any Error).self, "\(wrong)") { try FilesJSON.item(from: Array(wrong.utf8)) }
        }
    }

    @Test(arguments: [
        ("\"size\":7", "\"size\":-1"), ("\"size\":7", "\"size\":\"7\""), ("cat.png", "a/b"), ("cat.png", ""),
        ("cat.png", ".."), ("cat.png", "\\u001b[31m"), ("05.123456789Z", "05.Z"), ("\"isDir\":false", "\"isDir\":0"),
        ("\"isDir\":false,", ""), ("\"id\":\"aB", "\"id\":\"xB"), ("\"parentId\":\"a", "\"parentId\":\""),
    ])
    func oneMalformedItemDoesNotHideTheOthers(good: String, bad: String) throws {
        let malformed = Self.file.replacing(good, with: bad)
        let listing = try FilesJSON.listing(from: Array("[\(Self.file),\(malformed),7,null,\(Self.root)]".utf8))
        #expect(listing.items.map(\.name) == ["", "cat.png"])
        #expect(listing.malformed == 3)
    }

    @Test func absentAndNullAreTheSame() throws {
        let item = try FilesJSON.item(from: Array(Self.root.utf8))
        #expect(item.size == nil && item.contentType == nil && item.parentID == nil)
        let null = Self.root.replacing("\"isDir\"", with: "\"size\":null,\"contentType\":null,\"isDir\"")
        #expect(try FilesJSON.item(from: Array(null.utf8)) == item)
        let written = String(decoding: try FilesJSON.encode(item), as: UTF8.self)
        #expect(!written.contains("size") && !written.contains("contentType") && written.contains("\"parentId\":\"\""))
    }

    @Test func whatIsPrintedSaysNullWhereNothingIsKnown() throws {
        let root = try FilesJSON.item(from: Array(Self.root.utf8))
        func text(_ value: some Encodable) throws -> String {
            String(decoding: try FilesJSON.encode(value), as: UTF8.self)
        }
        let item = """
            "contentType":null,"id":"\(Self.id)","isDir":true,"modificationDate":"2024-01-02T03:04:05Z","name":"",\
            "parentId":"",
            """
        #expect(try text(ListedItem(item: root, change: nil)) == "{\(item)\"pending\":null,\"size\":null}")
        let user = try text(UserDocument(user: User(firstName: "F", lastName: "L", root: root)))
        #expect(user == "{\"firstName\":\"F\",\"lastName\":\"L\",\"rootItem\":{\(item)\"size\":null}}")
        let change = PendingChange(
            id: 3, kind: .newFolder, item: root, path: RemotePath("/a"), state: .waiting(problem: nil),
            date: root.modificationDate)
        let pending = try text(PendingDocument(change))
        #expect(pending.hasPrefix("{\"date\":\"2024-01-02T03:04:05Z\",\"id\":3,\"item\":{\(item)\"size\":null},"))
        #expect(pending.hasSuffix("\"kind\":\"newFolder\",\"path\":\"/a\",\"reason\":null,\"state\":\"waiting\"}"))
    }

    @Test func aUserHasARoot() throws {
        let json = "{\"lastName\":\"L\",\"x\":1,\"rootItem\":\(Self.root),\"firstName\":\"F\"}"
        let user = try FilesJSON.user(from: Array(json.utf8))
        #expect(user.firstName == "F" && user.lastName == "L" && user.root.isFolder)
        #expect(try FilesJSON.user(from: FilesJSON.encode(user)) == user)
    }

    @Test(arguments: oddNames)
    func aNameInJSONComesBackEqual(name: String) throws {
        let back = try FilesJSON.item(from: FilesJSON.encode(anItem(1, name)))
        #expect(Array(back.name.utf8) == Array(name.utf8))
        #expect(Array(try FilesJSON.newFolderName(from: FilesJSON.newFolder(named: name)).utf8) == Array(name.utf8))
    }

    @Test(arguments: [
        ("image/png", ContentKind.image), ("image/jpg", .image), ("IMAGE/jpeg; q=1", .image), ("text/plain", .text),
        (" text/html;charset=utf-8", .text), ("application/json", .data), ("", .data), ("image", .data),
        ("imagery/png", .data), ("text", .data), ("x/image/png", .data),
    ])
    func theKindIsThatOfTheTopLevelType(type: String, kind: ContentKind) {
        #expect(ContentKind(type) == kind)
        #expect(ContentKind(nil) == .data)
    }

    @Test func namesKeepToTheRules() {
        for name in oddNames { #expect(ItemName.isValid(name), "\(name)") }
        for name in [
            "", ".", "..", "a\\b", "a/b", "a\"b", "a*", "a?", "<", ">", "a|b", "a:b", "a\r\nb", "\0", "\u{7F}",
        ] {
            #expect(!ItemName.isValid(name), "\(name.debugDescription)")
        }
    }

    @Test func idsAreFortyDigits() {
        #expect(ItemID(Self.id)?.text == Self.id)
        for text in [
            "", String(Self.id.dropLast()), Self.id + "0", "g" + Self.id.dropFirst(), "٣" + Self.id.dropFirst(2),
        ] {
            #expect(ItemID(text) == nil)
        }
    }

    @Test func foldersComeFirstAndNumbersCount() {
        let items = [
            anItem(1, "b10.txt"), anItem(2, "B9.txt"), anItem(3, "z", folder: true), anItem(4, "émile"),
            anItem(5, "Emil"),
            anItem(6, "a", folder: true), anItem(7, "b010.txt"), anItem(8, "file99999999999999999999999"),
            anItem(9, "file100000000000000000000000"), anItem(10, "fa"),
        ]
        let order = [
            "a", "z", "B9.txt", "b010.txt", "b10.txt", "Emil", "émile", "fa", "file99999999999999999999999",
            "file100000000000000000000000",
        ]
        #expect(ItemOrder.sorted(items).map(\.name) == order)
        #expect(ItemOrder.sorted(items.reversed()).map(\.name) == order)
    }

    @Test(arguments: [
        ("/", []), ("", []), ("/a/b", ["a", "b"]), ("a//b/", ["a", "b"]), ("/a/../b/./c", ["b", "c"]), ("/..", []),
    ])
    func pathsAreNamesFromTheRoot(text: String, names: [String]) {
        #expect(RemotePath(text).names == names)
    }
}
