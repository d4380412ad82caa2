// SPDX-License-Identifier: Apache-2.0
import Uplink
import UplinkHTTP

/// The server's items, and the folder that each is in. Pure; the contents are elsewhere.
struct FileTree: Sendable {
    let rootID: ItemID
    private var items: [ItemID: Item]
    private var children: [ItemID: Set<ItemID>] = [:]

    /// A tree with an empty root.
    init(rootDate: Timestamp) {
        let root = Item(
            id: Self.id(ofPath: []), parentID: nil, name: "", isFolder: true, modificationDate: rootDate, size: nil,
            contentType: nil)
        rootID = root.id
        items = [root.id: root]
    }

    /// - Throws: ``ServiceError/notFound`` when there is none.
    func item(_ id: ItemID) throws(ServiceError) -> Item {
        guard let item = items[id] else { throw .notFound }
        return item
    }

    /// What is in a folder.
    ///
    /// - Throws: ``ServiceError`` when it is not a folder.
    func items(in id: ItemID) throws(ServiceError) -> [Item] {
        _ = try folder(id)
        return ItemOrder.sorted((children[id] ?? []).compactMap { items[$0] })
    }

    /// The names in a folder, byte for byte.
    ///
    /// - Throws: ``ServiceError`` when it is not a folder.
    func names(in id: ItemID) throws(ServiceError) -> Set<[UInt8]> {
        _ = try folder(id)
        return Set((children[id] ?? []).compactMap { items[$0].map { Array($0.name.utf8) } })
    }

    /// - Throws: ``ServiceError`` when it is not a folder, or cannot take an item with this name.
    func check(_ name: String, in id: ItemID) throws(ServiceError) { _ = try freeID(for: name, in: id) }

    private func freeID(for name: String, in id: ItemID) throws(ServiceError) -> ItemID {
        _ = try folder(id)
        if let problem = ItemName.problem(with: name) { throw .badRequest(problem) }
        guard name.utf8.count <= 255 else { throw .badRequest("a name has 255 bytes at most") }
        // As in a folder of Linux, two forms of an "é" are two names, with an id each.
        let free = Self.id(ofPath: path(of: id) + [name])
        guard items[free] == nil else { throw .badRequest("the folder has an item with this name") }
        return free
    }

    /// Adds a file, or a folder if there is no size.
    ///
    /// - Throws: ``ServiceError`` as ``check(_:in:)``.
    mutating func add(
        named name: String, in folder: ItemID, date: Timestamp, size: Int64?
    ) throws(ServiceError) -> Item {
        let item = Item(
            id: try freeID(for: name, in: folder), parentID: folder, name: name, isFolder: size == nil,
            modificationDate: date, size: size, contentType: size == nil ? nil : MediaType.of(name))
        items[item.id] = item
        children[folder, default: []].insert(item.id)
        return item
    }

    /// The items to delete with an item: its contents first, itself last.
    ///
    /// - Throws: ``ServiceError`` for the root, and when there is no such item.
    func subtree(of id: ItemID) throws(ServiceError) -> [Item] {
        let item = try item(id)
        guard id != rootID else { throw .badRequest("the root cannot be deleted") }
        var (found, unseen) = ([Item](), [item])
        while let next = unseen.popLast() {
            found.append(next)
            unseen += (children[next.id] ?? []).compactMap { items[$0] }
        }
        return found.reversed()
    }

    /// Removes an item with nothing left in it.
    mutating func remove(_ item: Item) {
        guard let parent = item.parentID, children[item.id]?.isEmpty ?? true else { return }
        items[item.id] = nil
        children[item.id] = nil
        children[parent]?.remove(item.id)
    }

    /// Records when something was last added to a folder, or removed from it.
    mutating func touch(_ folder: ItemID, _ date: Timestamp) { items[folder]?.modificationDate = date }

    /// The names from the root to an item.
    func path(of id: ItemID) -> [String] {
        var (names, next) = ([String](), items[id])
        while let item = next, let parent = item.parentID {
            names.append(item.name)
            next = items[parent]
        }
        return names.reversed()
    }

    private func folder(_ id: ItemID) throws(ServiceError) -> Item {
        let item = try item(id)
        guard item.isFolder else { throw .badRequest("the item is no folder") }
        return item
    }

    /// An id that is the same for the same path, so that a client finds what it knows after a restart.
    private static func id(ofPath names: [String]) -> ItemID {
        var hash = SHA256()
        hash.update(Array(names.joined(separator: "/").utf8))
        let text = Hexadecimal.text(hash.finish().prefix(ItemID.length / 2))
        guard let id = ItemID(text) else { preconditionFailure("20 bytes are 40 digits") }
        return id
    }
}
