// SPDX-License-Identifier: Apache-2.0

/// Bytes that claim to be JSON of the files contract: what is understood is understood as the same when it is written
/// anew, and a listing has one order.
///
/// The first byte: `u` a user, `i` an item, `l` a listing, `f` a new folder, `t` a timestamp.
enum FilesFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        guard let (letter, rest) = kind(of: bytes) else { return }
        switch letter {
        case "u": if let user = try? FilesJSON.user(from: rest) { try same(user) { try FilesJSON.user(from: $0) } }
        case "i": if let item = try? FilesJSON.item(from: rest) { try same(item) { try FilesJSON.item(from: $0) } }
        case "l": if let listing = try? FilesJSON.listing(from: rest) { try check(listing) }
        case "f":
            guard let name = try? FilesJSON.newFolderName(from: rest) else { return }
            let again = try? FilesJSON.newFolderName(from: FilesJSON.newFolder(named: name))
            try expect(again.map { Array($0.utf8) } == Array(name.utf8), "the folder \(name) becomes another")
        case "t": if let timestamp = Timestamp(String(decoding: rest, as: UTF8.self)) { try check(timestamp) }
        default: return
        }
    }

    private static func same<Value: Encodable & Equatable>(
        _ value: Value, _ read: ([UInt8]) throws -> Value
    ) throws(Fault) {
        let again = try? read(FilesJSON.encode(value))
        try expect(again == value, "\(value) is written and read as \(again.map { "\($0)" } ?? "nothing")")
    }

    private static func check(_ listing: Listing) throws(Fault) {
        let again = (try? FilesJSON.encode(listing.items)).flatMap { try? FilesJSON.listing(from: $0) }
        try expect(again == Listing(items: listing.items, malformed: 0), "a listing is written and read as another")
        let areDistinct = Set(listing.items.map(\.id)).count == listing.items.count
        let reversed = ItemOrder.sorted(listing.items.reversed())
        try expect(!areDistinct || reversed == listing.items, "an order that depends on the server")
        for item in listing.items {
            try check(item.modificationDate)
            try expect(ItemName.isValid(item.name) || item.name.isEmpty, "the name \(item.name)")
            try expect(item.size ?? 0 >= 0, "a size of \(item.size ?? 0)")
        }
    }

    private static func check(_ timestamp: Timestamp) throws(Fault) {
        let text = timestamp.description
        try expect(Timestamp(text) == timestamp, "\(text) is not read again")
        try expect((0..<1_000_000_000).contains(timestamp.nanoseconds), "\(timestamp.nanoseconds) nanoseconds")
        let later = Timestamp(seconds: timestamp.seconds + 1, nanoseconds: timestamp.nanoseconds)
        try expect(text < later.description || later.description.utf8.count > text.utf8.count, "text in another order")
    }
}
